import type { OutreachSettings } from './stream-record.ts'

const scale = 100_000_000n

const scaled = (rate: string): bigint => {
  const [whole = '0', part = ''] = rate.split('.')
  return BigInt(whole) * scale + BigInt(part.padEnd(8, '0'))
}

/** Millionths of a dollar as millionths of a penny, exactly, half up. */
export const microPenceOf = (usdMicros: number, rate: string): number =>
  Number((BigInt(usdMicros) * 100n * scaled(rate) + scale / 2n) / scale)

/** Rounded to the nearest penny, half up. */
export const penceOf = (microPence: number): number => Math.floor((microPence + 500_000) / 1_000_000)

/** Where no rate was ever set up, a dollar counts as one: too much rather than too little. */
const noRate = { day: null, usd_rate: '1' } as const

/** The rate of a day: the last one known by then, or the first where that came later. */
export const rateOn = (
  { exchange_rates }: OutreachSettings,
  day: string,
): { readonly day: string | null; readonly usd_rate: string } =>
  exchange_rates.findLast((each) => each.day <= day) ?? exchange_rates[0] ?? noRate
