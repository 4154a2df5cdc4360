/** Amounts are whole numbers of the smallest unit of their currency, whatever it is called: pence, yen, fils. */

export const sumOf = <Item>(items: readonly Item[], penceOf: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + penceOf(item), 0)

/** Minor units in the currency's own unit: 100 pence, 1 yen, 1,000 fils. */
export const unitsIn = (currency: string): number => {
  const known = unitsOf.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency })
  const units = 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)
  unitsOf.set(currency, units)
  return units
}
/** A file of a million amounts asks for them as often. */
const unitsOf = new Map<string, number>()

/** The decimals of an amount in it. */
export const decimalsOf = (currency: string): number => Math.log10(unitsIn(currency))

/** As a number without the name of its currency: 12.34, 1234, 1.234. */
export const decimalMoney = (pence: number, currency: string): string =>
  (pence / unitsIn(currency)).toFixed(decimalsOf(currency))

/** An amount that was written as a decimal number, exactly: undefined where it has more decimals than its currency. */
export const exactMoney = (decimal: string, currency: string): number | undefined => {
  const [whole = '', decimals = ''] = decimal.split('.')
  const kept = decimals.padEnd(decimalsOf(currency), '0')
  return /^0*$/.test(kept.slice(decimalsOf(currency))) ? Number(whole + kept.slice(0, decimalsOf(currency))) : undefined
}

/** As people read it: £12.34, ¥1,234. */
export const money = (pence: number, currency: string): string =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(pence / unitsIn(currency))

/** Without decimals where there are none: £250,000, £12.34. */
export const shortMoney = (pence: number, currency: string): string =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' }).format(
    pence / unitsIn(currency),
  )
