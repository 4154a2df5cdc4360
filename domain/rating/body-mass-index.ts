/**
 * The body mass index with one decimal place, cut off and not rounded, so that 39.96 is shown, and underwritten, as less
 * than 40. Counted in whole millimetres and grams, so that 97.2 kg at 180 cm is exactly 30.
 */
export const bodyMassIndex = (heightCm: unknown, weightKg: unknown): number | undefined => {
  if (typeof heightCm !== 'number' || typeof weightKg !== 'number' || heightCm <= 0) return undefined
  const millimetres = Math.round(heightCm * 10)
  const grams = Math.round(weightKg * 1000)
  return Math.floor((grams * 10_000) / (millimetres * millimetres)) / 10
}
