import { z } from 'zod'
import { askJson, type OpenedAccount } from '../ask-json.ts'
import type { GuardedHttp } from '../guarded-http.ts'

const Lookup = z.object({
  valid: z.boolean(),
  line_status: z.object({ status: z.string().nullish() }).nullish(),
})

export type LineStatus = 'in_use' | 'unassigned' | 'switched_off'

/** Twilio Lookup v2. Answers how a number stands; undefined when the service cannot say, or cannot be reached. */
export const twilioLookup =
  (http: Pick<GuardedHttp, 'request'>) =>
  async ({ base_url, account, secret }: OpenedAccount, number: string): Promise<LineStatus | undefined> => {
    const answer = await askJson(http, {
      method: 'GET',
      url: `${base_url}/v2/PhoneNumbers/${encodeURIComponent(number)}?Fields=line_status,line_type_intelligence`,
      headers: { authorization: `Basic ${Buffer.from(`${account ?? ''}:${secret}`).toString('base64')}` },
    })
    if (answer?.status !== 200) return undefined
    const lookup = Lookup.safeParse(answer.body).data
    if (!lookup) return undefined
    if (!lookup.valid) return 'unassigned'
    const status = lookup.line_status?.status
    if (status === 'inactive') return 'unassigned'
    // Otherwise it is active, reachable, or not known for this kind of line.
    return status === 'unreachable' ? 'switched_off' : 'in_use'
  }
