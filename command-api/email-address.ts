import { domainToASCII } from 'node:url'
import { z } from 'zod'
import { findableText } from '#domain/invisible-characters.ts'

export const noEmailAddress = 'must be an email address of at most 254 characters, 64 of them before the @'

/** RFC 5321 and RFC 6531: words joined by dots, in any script. Quoted ones nobody has. */
const local = /^[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+(\.[\w!#$%&'*+/=?^`{|}~\p{L}\p{M}\p{N}-]+)*$/u
/** As name servers know it: names of other scripts begin with `xn--`. */
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/
const domainLetters = /^[\p{L}\p{M}\p{N}\u200C-\u200D.-]+$/u

const isAddress = (text: string): boolean => {
  const at = text.lastIndexOf('@')
  const [before, after] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || text.length > 254 || before.length > 64 || !local.test(before) || !domainLetters.test(after))
    return false
  const known = domainToASCII(after)
  return before.length + 1 + known.length <= 254 && domain.test(known)
}

/** An address as it is compared: without regard to the case of A to Z alone, so that no letter that only looks like another is it. */
export const comparedEmail = (email: string): string => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * An email address as somebody sends it. RFC 5321, section 4.5.3.1: no mail server has to take a longer one. What is stored is
 * not held against it: longer ones were taken before.
 */
export const EmailAddress = z
  .string()
  .overwrite((sent) => findableText(sent).normalize('NFC'))
  .refine(isAddress, noEmailAddress)
  .meta({ format: 'email', maxLength: 254 })
