import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ApplicationId } from '#domain/values.ts'
import type { Keys } from './keys.ts'

const digestOf = ({ shareTokens }: Pick<Keys, 'shareTokens'>, id: ApplicationId): Buffer =>
  createHmac('sha256', shareTokens).update(id).digest()

/** The key to an application. It follows from the application's id, so nothing is stored. */
export const shareTokenOf = (keys: Pick<Keys, 'shareTokens'>, id: ApplicationId): string =>
  digestOf(keys, id).toString('base64url')

/** Whether a request proved that it may see the application; takes as long for a wrong token as for the right one. */
export const isShareTokenOf = (
  keys: Pick<Keys, 'shareTokens'>,
  id: ApplicationId,
  given: string | undefined,
): boolean => {
  if (given === undefined || !/^[\w-]{43}$/.test(given)) return false
  const bytes = Buffer.from(given, 'base64url')
  // The last character has bits to spare: a token that differs only in those is another token.
  return timingSafeEqual(bytes, digestOf(keys, id)) && bytes.toString('base64url') === given
}
