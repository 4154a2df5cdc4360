import { parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max'

/** What is wrong with a telephone number, as far as it tells by itself. */
export type PhoneFault = 'blank' | 'format_invalid' | 'too_short' | 'too_long' | 'invalid_number' | 'drama_number'

const mostCharacters = 60

/** Digits and what people put between them, then perhaps an extension. */
const written = /^[\d+().\-\s]+((ext|extension|x|#)[.:\s]*\d{1,7})?$/i

/** The numbers that Ofcom keeps for drama, in E.164. The library calls most of them valid. */
const drama =
  /^\+44(11[3-8]4960|1[2-6]14960|1914980|2079460|2896496|2890180|2920180|1632960|7700900|8081570|9098790|3069990)\d{3}$/

/** A number in E.164, or why it is none. Without a country code it is taken as one of the United Kingdom. */
export const readPhoneNumber = (sent: string): { readonly number: string } | { readonly fault: PhoneFault } => {
  const text = sent.trim()
  if (text === '') return { fault: 'blank' }
  if (!written.test(text.slice(0, mostCharacters))) return { fault: 'format_invalid' }
  if (text.length > mostCharacters) return { fault: 'too_long' }
  switch (validatePhoneNumberLength(text, 'GB')) {
    case 'TOO_SHORT':
      return { fault: 'too_short' }
    case 'TOO_LONG':
      return { fault: 'too_long' }
    case 'NOT_A_NUMBER':
    case 'INVALID_COUNTRY':
    case 'INVALID_LENGTH':
      return { fault: 'format_invalid' }
    case undefined:
      break
  }
  const parsed = parsePhoneNumberFromString(text, 'GB')
  if (!parsed) return { fault: 'format_invalid' }
  if (drama.test(parsed.number)) return { fault: 'drama_number' }
  // Not by its country: Jersey, Guernsey and the Isle of Man share +44, and so do some ranges of mobile numbers.
  return parsed.isValid() ? { number: parsed.number } : { fault: 'invalid_number' }
}
