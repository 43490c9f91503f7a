// The machines of the job, as the tool has drawn them: `libprofile report --machine --format svg`.
import { bytesOf } from "../columns";
import type { Data } from "../data";
import { $ } from "../dom";

/** @return the picture; undefined: the profile does not have the machine */
export async function showMachine({ header: { machine } }: Data): Promise<string | undefined> {
  $("machine-section").hidden = !machine;
  if (!machine) return undefined;
  $("machine-notes").textContent = machine.notes.join(". ");
  const text = new TextDecoder().decode(await bytesOf(machine.picture)),
    picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", "Machines, and where threads of ranks were last seen");
  $("machine").replaceChildren(document.importNode(picture, true));
  return text;
}
