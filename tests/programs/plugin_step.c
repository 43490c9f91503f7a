/* The plug-in of point_later. */
void later_step(double* sum) {
    for (int i = 0; i < 1000; ++i) *sum += 1e-3 * i;
}
