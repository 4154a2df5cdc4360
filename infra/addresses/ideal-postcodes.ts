import { z } from 'zod'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'
import { addressOf, readAddresses, type FoundAddresses } from './address.ts'

const Line = z.string().nullish()

const Entry = z.object({ line_1: Line, line_2: Line, line_3: Line, post_town: z.string(), postcode: z.string() })

const Answer = z.object({ code: z.literal(2000), result: z.array(z.unknown()) })

/** Ideal Postcodes, `GET /v1/postcodes/{postcode}`. */
export const idealPostcodes =
  (http: Pick<GuardedHttp, 'request'>) =>
  async ({ base_url, secret }: OpenedAccount, postcode: string): Promise<FoundAddresses> => {
    const answer = await askJson(http, {
      method: 'GET',
      url: `${base_url}/v1/postcodes/${encodeURIComponent(postcode)}`,
      headers: { authorization: `api_key="${secret}"` },
    })
    if (answer?.status === 404) return []
    const found = answer?.status === 200 ? Answer.safeParse(answer.body).data : undefined
    return (
      found &&
      readAddresses(found.result, Entry, ({ line_1, line_2, line_3, post_town, postcode: of }) =>
        addressOf([line_1, line_2, line_3], post_town, of),
      )
    )
  }
