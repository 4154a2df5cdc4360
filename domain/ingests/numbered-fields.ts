/**
 * Names of the fields that have a number for a name, by that number: from their place within a name or an address, where both
 * are numbered as form services number them, else from their content.
 */
export const numberedNames = (sent: Readonly<Record<string, unknown>>): ReadonlyMap<string, readonly string[]> => {
  const numbered = Object.entries(sent).filter(([key]) => /^\d+(\.\d+)?$/.test(key))
  const keys = new Set(numbered.map(([key]) => key))
  return new Map(
    numbered.flatMap(([key, value]) => {
      const name = nameByPlace(key, keys) ?? nameByForm(value)
      return name === undefined ? [] : [[key, [name]] as const]
    }),
  )
}

const ofName: Readonly<Record<string, string>> = { 2: 'title', 3: 'first_name', 6: 'last_name' }
const ofAddress: Readonly<Record<string, string>> = {
  1: 'address_line1',
  2: 'address_line2',
  3: 'city',
  5: 'postal_code',
  6: 'country',
}

const nameByPlace = (key: string, keys: ReadonlySet<string>): string | undefined => {
  const [field, part] = key.split('.')
  const has = (each: number) => keys.has(`${field}.${each}`)
  if (part === undefined) return undefined
  if (has(1) && has(3) && has(5)) return ofAddress[part]
  return has(3) && has(6) ? ofName[part] : undefined
}

const longestContact = 320

const nameByForm = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text.length > longestContact) return undefined
  if (/^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/.test(text)) return 'email'
  return /^(\+|\(0|0)[\d\s().-]{8,24}$/.test(text) ? 'phone_number' : undefined
}
