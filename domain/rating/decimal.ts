/** `1.10` in units of the last of so many places: of four, 11000. */
export const decimalUnits = (text: string, places: number): bigint => {
  const [whole = '', fraction = ''] = text.split('.')
  if (!/^\d+(\.\d+)?$/.test(text) || fraction.length > places)
    throw new Error(`“${text}” is no decimal number with at most ${places} places.`)
  return BigInt(whole + fraction.padEnd(places, '0'))
}

/** Of a quotient that is not negative. */
export const roundHalfUp = (numerator: bigint, denominator: bigint): number =>
  Number((2n * numerator + denominator) / (2n * denominator))
