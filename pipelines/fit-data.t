# Counts as a spectrometer might give them, from a seed: two peaks on a decaying background, with
# counting noise.
input seed u64
x = f64(arange(250)) + 1
clean = 98 * exp(-0.0105 * x) + 100 * exp(-((x - 67) / 24) ** 2) + 72 * exp(-((x - 180) / 19) ** 2)
output x, y = clean + sqrt(clean) * 0.25 * randn([250], seed, dtype=f64)
