import { z } from 'zod'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'

const Screened = z.object({
  results: z.array(z.object({ phoneNumber: z.string(), tpsListed: z.boolean(), ctpsListed: z.boolean() })),
})

/** A number, and whether it is on the list of private people or of companies that want no calls. */
export type ListedNumber = { readonly number: string; readonly tps: boolean; readonly ctps: boolean }

/** Speaks `POST /v1/screen` of TPSClear. Undefined: it could not be reached, or did not understand. */
export const tpsClear =
  (http: Pick<GuardedHttp, 'request'>) =>
  async (
    { base_url, secret }: OpenedAccount,
    numbers: readonly string[],
  ): Promise<readonly ListedNumber[] | undefined> => {
    const answer = await askJson(http, {
      method: 'POST',
      url: `${base_url}/v1/screen`,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ phoneNumbers: numbers }),
    })
    if (answer?.status !== 200) return undefined
    const screened = Screened.safeParse(answer.body).data
    return screened?.results.map(({ phoneNumber: number, tpsListed: tps, ctpsListed: ctps }) => ({ number, tps, ctps }))
  }
