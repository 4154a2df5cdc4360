import { z } from 'zod'

/** What the payment provider calls something: `pi_…`, `mandate_…`, `cus_…`. */
export const ProviderId = z.string().regex(/^\w{1,255}$/)

/** A word of the provider's, such as `card_declined` or `visa`. */
export const ProviderWord = z.string().regex(/^[a-z0-9_]{1,100}$/)
