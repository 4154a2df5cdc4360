import type { z } from 'zod'

/** An address at a postcode, as the post office has it. */
export type FoundAddress = {
  readonly address_line1: string
  /** Further lines joined by commas; empty when there are none. */
  readonly address_line2: string
  readonly city: string
  readonly postal_code: string
  readonly country: string
}

/** Undefined when the provider could not be asked; none when the postcode is unknown to it. */
export type FoundAddresses = readonly FoundAddress[] | undefined

/** The addresses of those entries that can be read; undefined where there are entries and none of them can. */
export const readAddresses = <Entry>(
  entries: readonly unknown[],
  schema: z.ZodType<Entry>,
  read: (entry: Entry) => FoundAddress | undefined,
): FoundAddresses => {
  const readable = entries.flatMap((entry) => schema.safeParse(entry).data ?? [])
  return entries.length > 0 && readable.length === 0 ? undefined : readable.flatMap((entry) => read(entry) ?? [])
}

const small = /^(on|upon|in|the|by|le|la|under|of|and|with|next|de|en|cum)$/

/** `STOKE-ON-TRENT` → `Stoke-on-Trent`, `KING'S LYNN` → `King's Lynn`. */
export const titleCase = (name: string): string =>
  name
    .toLowerCase()
    .split(/([\s-]+)/)
    .map((word, index) => (index > 0 && small.test(word) ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')

/** An address of lines, the empty ones left out; undefined without a line. */
export const addressOf = (
  lines: readonly (string | null | undefined)[],
  town: string,
  postal_code: string,
): FoundAddress | undefined => {
  const [address_line1, ...further] = lines.map((line) => line?.trim() ?? '').filter((line) => line !== '')
  if (address_line1 === undefined) return undefined
  return {
    address_line1,
    address_line2: further.join(', '),
    city: titleCase(town),
    postal_code,
    country: 'United Kingdom',
  }
}
