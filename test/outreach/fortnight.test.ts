import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFirm, type Firm } from './firm.ts'

// So many leads in the suite; OUTREACH_LEADS=1000 simulates the whole.
const leads = Number(process.env['OUTREACH_LEADS'] ?? 12)
const pace_per_hour = Math.max(4, Math.ceil(leads / 10))
const hour = 3_600
const day = 24 * hour

let firm: Firm
beforeAll(async () => {
  firm = await openFirm()
}, 90_000)
afterAll(() => firm[Symbol.asyncDispose](), 300_000)

/** The most messages that left within one hour, wherever it begins. */
const mostInAnHour = (instants: readonly number[]): number =>
  Math.max(0, ...instants.map((from) => instants.filter((at) => at >= from && at < from + hour * 1_000).length))

test(
  'a fortnight of a stream: counts are exact, no hour exceeds the pace, nobody without consent is sent anything',
  { timeout: 1_800_000 },
  async () => {
    const stream = await firm.stream({
      pace_per_hour,
      follow_up_after_days: 7,
      follow_up: { subject: 'Again', body: 'Still there?' },
    })
    const agreed: string[] = []
    const others: string[] = []
    for (let number = 0; number < leads; number++) {
      const isAgreed = number % 4 !== 3
      ;(isAgreed ? agreed : others).push(await firm.lead({ consents: isAgreed ? { email: true } : null }))
    }
    for (let from = 0; from < leads; from += 100) {
      const people = [...agreed, ...others].slice(from, from + 100)
      await firm.join(stream, ...people)
    }

    /** Hour by hour, until so many were sent after those before. A permit that was not used in time costs a place of its hour. */
    const sendAll = async (before: number, count: number) => {
      const mostHours = 3 * Math.ceil(count / pace_per_hour)
      let sent = before
      for (let hours = 0; sent < before + count && hours < mostHours; hours++) {
        const most = Math.min(before + count, sent + pace_per_hour)
        let lastChange = Date.now()
        sent = await firm.until(`${most} are sent`, async () => {
          const now = Number((await firm.read(stream))['sent_count'])
          if (now > sent) lastChange = Date.now()
          sent = Math.max(sent, now)
          return now >= most || Date.now() - lastChange > 20_000 ? now : undefined
        })
        await firm.forward(hour + 130)
      }
    }
    await sendAll(0, agreed.length)
    await firm.forward(7 * day)
    await sendAll(agreed.length, agreed.length)
    await firm.forward(7 * day)

    const sent = await firm.outbox()
    expect(sent.filter(({ contact_id }) => others.includes(contact_id))).toEqual([])
    expect(sent.map(({ contact_id }) => contact_id).toSorted()).toEqual([...agreed, ...agreed].toSorted())
    expect(mostInAnHour(sent.map(({ sent_at }) => Date.parse(sent_at)))).toBeLessThanOrEqual(pace_per_hour)
    expect(await firm.read(stream)).toMatchObject({
      rows_count: leads,
      skipped_count: others.length,
      analysed_count: leads,
      sent_count: 2 * agreed.length,
      errored_count: 0,
      awaiting_approval_count: 0,
      budget_exceeded: false,
    })
  },
)
