import { findableText, isUnseen } from '#domain/invisible-characters.ts'
import { readTelephone } from '#infra/telephone.ts'

/** A fault of a telephone number, as far as the number shows it. */
export type PhoneFault = 'blank' | 'format_invalid' | 'too_short' | 'too_long' | 'invalid_number' | 'drama_number'

const mostCharacters = 60

/** The numbers that Ofcom keeps for drama, in E.164. The library calls most of them valid. */
const drama =
  /^\+44(11[3-8]4960|1[2-6]14960|1914980|2079460|2896496|2890180|2920180|1632960|7700900|8081570|9098790|3069990)\d{3}$/

/** A plus that was not encoded arrives as a space. With a 0 behind it, a space was meant. */
const lostPlus = /^ (?=[1-9])/

/** A number in E.164, or why it is none. Without a country code it is taken as one of the United Kingdom. */
export const readPhoneNumber = (sent: string): { readonly number: string } | { readonly fault: PhoneFault } => {
  const text = findableText(sent.replace(lostPlus, '+'))
  if (isUnseen(text)) return { fault: 'blank' }
  const read = readTelephone(text.slice(0, mostCharacters), 'GB')
  const fault = 'fault' in read ? read.fault : undefined
  if (fault === 'format_invalid' || fault === 'spreadsheet') return { fault: 'format_invalid' }
  if (text.length > mostCharacters) return { fault: 'too_long' }
  if ('fault' in read) return { fault: read.fault === 'too_short' ? 'too_short' : 'too_long' }
  if (drama.test(read.number)) return { fault: 'drama_number' }
  // Not by its country: Jersey, Guernsey and the Isle of Man share +44, and so do some ranges of mobile numbers.
  return read.isValid ? { number: read.number } : { fault: 'invalid_number' }
}
