import { parsePhoneNumberFromString, validatePhoneNumberLength, type CountryCode } from 'libphonenumber-js/max'

/** The fault of a telephone number as it is written. `spreadsheet`: a spreadsheet has rounded it. */
export type WrittenFault = 'format_invalid' | 'too_short' | 'too_long' | 'spreadsheet'

/** A number in E.164, and the extension behind it, which is no part of it. */
export type Telephone = { readonly number: string; readonly extension: string | null; readonly isValid: boolean }

/** Digits and what people put between them, then perhaps an extension. */
const written = /^[\d+().\-\s]+((ext|extension|extn|x|#|;ext=)[.:\s]*\d{1,7})?$/i

/** 4.47911E+11: most of its digits are lost. */
export const isRounded = (text: string): boolean => /^\+?\d+([.,]\d+)?E\+?\d+$/i.test(text.trim())

/** Mobile numbers of the United Kingdom have ten digits behind +44. For the library, nine might be a number from elsewhere there. */
const ukMobile = /^\+447(\d*)$/
const digitsOfMobile = 9

/** Reads a telephone number; one without a country code is of the region. */
export const readTelephone = (text: string, region: CountryCode): Telephone | { readonly fault: WrittenFault } => {
  if (isRounded(text)) return { fault: 'spreadsheet' }
  if (!written.test(text)) return { fault: 'format_invalid' }
  const wrong = validatePhoneNumberLength(text, region)
  if (wrong === 'TOO_SHORT') return { fault: 'too_short' }
  if (wrong === 'TOO_LONG') return { fault: 'too_long' }
  const parsed = wrong === undefined ? parsePhoneNumberFromString(text, region) : undefined
  if (!parsed) return { fault: 'format_invalid' }
  const ofMobile = ukMobile.exec(parsed.number)?.[1]?.length ?? digitsOfMobile
  if (ofMobile !== digitsOfMobile) return { fault: ofMobile < digitsOfMobile ? 'too_short' : 'too_long' }
  return { number: parsed.number, extension: parsed.ext ?? null, isValid: parsed.isValid() }
}
