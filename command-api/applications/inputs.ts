import { z } from 'zod'
import { Channel } from '#domain/values.ts'

/** Inputs shared by several requests on applications. Each part is checked by the rules of the application. */

const AnySent = z.record(z.string(), z.unknown())

export const AnswersInput = AnySent.describe('By question key; null removes an answer.')

export const ConsentAnswersInput = AnySent.meta({
  override: { type: 'object', additionalProperties: { const: false } },
}).describe('The opt-out boxes that were ticked, by key, each `false`.')

export const MarketingAnswersInput = AnySent.meta({
  override: { type: 'object', propertyNames: { enum: Channel.options }, additionalProperties: { type: 'boolean' } },
}).describe('Yes or no by channel, the answer to the marketing question.')
