import { z } from 'zod'
import { startStandIn, type StandInAnswer } from './stand-in.ts'

const Asked = z.object({ phoneNumbers: z.array(z.string()).min(1).max(10_000) })

/** A request that names such a number, by its last two digits, fails as a whole. */
const magic: Readonly<Record<string, StandInAnswer>> = {
  '95': { status: 503, body: { error: 'unavailable' } },
  '96': 'hang',
}

/** Speaks TPSClear: numbers that end in 1 are on the list of private people, in 2 on that of companies. */
export const startTps = (port?: number) =>
  startStandIn(({ method, url, header, text }) => {
    if (method !== 'POST' || url.pathname !== '/v1/screen') return { status: 404, body: { error: 'not_found' } }
    if (!header('authorization')?.startsWith('Bearer ')) return { status: 401, body: { error: 'unauthorised' } }
    const asked = Asked.safeParse(JSON.parse(text)).data
    if (!asked) return { status: 422, body: { error: 'phoneNumbers' } }
    const failing = asked.phoneNumbers.find((number) => magic[number.slice(-2)] !== undefined)
    if (failing !== undefined) return magic[failing.slice(-2)] ?? 'hang'
    const results = asked.phoneNumbers.map((phoneNumber) => {
      const [tpsListed, ctpsListed] = [phoneNumber.endsWith('1'), phoneNumber.endsWith('2')]
      const status = tpsListed ? 'tps-listed' : ctpsListed ? 'ctps-listed' : 'clean'
      return { phoneNumber, tpsListed, ctpsListed, status, checkedAt: new Date().toISOString() }
    })
    return { status: 200, body: { results } }
  }, port)
