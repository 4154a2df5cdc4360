import { z } from 'zod'

export const ProvenanceInput = z
  .unknown()
  .optional()
  .meta({
    override: {
      // Without a type: whatever is sent is taken in.
      properties: {
        page_url: { description: 'Text of at most 2,000 characters.' },
        referrer: { description: 'Text of at most 2,000 characters.' },
        page_title: { description: 'Text of at most 300 characters.' },
        locale: { description: 'BCP 47.' },
        timezone: { description: 'IANA.' },
        utm: { description: 'An object of texts of at most 200 characters.' },
        click_ids: { description: 'An object of texts of at most 500 characters.' },
      },
    },
  })
  .describe('Where the visitor came from. What cannot be used, or looks personal, is dropped.')
