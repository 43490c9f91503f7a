// Builds one HTML file: script and style are put into the page, which loads nothing.
export default {
  root: "src",
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e9,
    reportCompressedSize: false,
  },
  plugins: [
    {
      name: "one-file",
      enforce: "post",
      generateBundle(_, bundle) {
        const page = bundle["index.html"];
        let html = page.source;
        for (const [name, file] of Object.entries(bundle)) {
          if (file.type === "chunk") {
            const code = file.code.replaceAll("</script", "<\\/script");
            html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, "");
            // At the end: the elements with the data are there when the script runs.
            html = html.replace("<!--script-->", () => `<script type="module">${code}</script>`);
            delete bundle[name];
          } else if (name.endsWith(".css")) {
            html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${file.source}</style>`);
            delete bundle[name];
          }
        }
        page.source = html;
        page.fileName = "view.html";
      },
    },
  ],
};
