/**
 * The digits that two spellings of a telephone number have in common, whether they begin with 0, +44 or 0044; null where
 * there are too few to be a number.
 */
export const phoneDigits = (text: string | null | undefined): string | null => {
  const digits = (text ?? '').slice(0, 200).replaceAll(/\D/g, '')
  return digits.length < 7 ? null : digits.slice(-9)
}
