/** Amounts are whole numbers of the smallest unit of their currency, whatever it is called: pence, yen, fils. */

/** How many of them make the currency's own unit: 100 pence, 1 yen, 1,000 fils. */
export const unitsIn = (currency: string): number => {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency })
  return 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2)
}

/** As people read it: £12.34, ¥1,234. */
export const money = (pence: number, currency: string): string =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(pence / unitsIn(currency))

/** Without decimals where there are none: £250,000, £12.34. */
export const shortMoney = (pence: number, currency: string): string =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' }).format(
    pence / unitsIn(currency),
  )
