import { z } from 'zod'

/** What several requests on applications hold. Each part is checked by the rules of the application. */

const AnySent = z.record(z.string(), z.unknown())

export const AnswersInput = AnySent.describe('By question key; null removes an answer.')

export const ConsentAnswersInput = AnySent.describe('The opt-out boxes that were ticked, by key, each `false`.')

export const MarketingAnswersInput = AnySent.describe('Yes or no by channel, the answer to the marketing question.')

export const ProvenanceInput = z
  .unknown()
  .optional()
  .meta({
    override: {
      type: 'object',
      properties: {
        page_url: { type: 'string', maxLength: 2000 },
        referrer: { type: 'string', maxLength: 2000 },
        page_title: { type: 'string', maxLength: 300 },
        locale: { type: 'string', description: 'BCP 47' },
        timezone: { type: 'string', description: 'IANA' },
        utm: { type: 'object', additionalProperties: { type: 'string', maxLength: 200 } },
        click_ids: { type: 'object', additionalProperties: { type: 'string', maxLength: 500 } },
      },
    },
  })
  .describe('Where the visitor came from. What cannot be used, or looks personal, is dropped.')
