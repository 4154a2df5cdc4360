import { z } from 'zod'

export const noEmailAddress = 'must be an email address of at most 254 characters, 64 of them before the @'

/**
 * An email address as somebody sends it. RFC 5321, section 4.5.3.1: no mail server has to take a longer one. What is stored is
 * not held against it: longer ones were taken before.
 */
export const EmailAddress = z
  .email({ error: noEmailAddress, abort: true })
  .max(254, { error: noEmailAddress, abort: true })
  .regex(/^[^@]{1,64}@/, noEmailAddress)
