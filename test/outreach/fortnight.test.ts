import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDraftWriter } from '../../stand-ins/draft-writer.ts'
import type { StandIn } from '../../stand-ins/stand-in.ts'
import { openFirm, type Firm, type Sent } from './firm.ts'

// So many leads in the suite; OUTREACH_LEADS=1000 simulates the whole, in some two minutes.
const leads = Number(process.env['OUTREACH_LEADS'] ?? 12)
const pace_per_hour = Math.max(4, Math.ceil(leads / 10))
const hour = 3_600
const day = 24 * hour
/** When nothing was sent for so long, the places of the hour are used up. */
const quietMs = 20_000
const patienceMs = 600_000

// 900 tokens read and 100 written make 13,000 millionths of a dollar, at 0.8 pounds 1.04 pence.
const writer_price = { input_usd: 10, output_usd: 40 }
const draft_micro_pence = 1_040_000

let firm: Firm
let writer: StandIn
beforeAll(async () => {
  writer = await startDraftWriter()
  firm = await openFirm({ DELIVERY_ALLOWED_HOSTS: '127.0.0.1', DELIVERY_ALLOW_HTTP: 'true' })
  const account = { base_url: writer.url, account: 'writer-1', secret: 'key' }
  await firm.service.send('PUT', `${firm.admin}/provider_accounts/outreach_writer`, { body: account })
  await firm.service.send('PATCH', `${firm.admin}/outreach`, { body: { writer_price } })
}, 90_000)
afterAll(async () => {
  await firm[Symbol.asyncDispose]()
  await writer.close()
}, 300_000)

/** The most messages that left within one hour, wherever it begins. */
const mostInAnHour = (sent: readonly Sent[]): number => {
  const instants = sent.map(({ sent_at }) => Date.parse(sent_at))
  return Math.max(0, ...instants.map((from) => instants.filter((at) => at >= from && at < from + hour * 1_000).length))
}

const people = (sent: readonly Sent[]) => sent.map(({ contact_id }) => contact_id).toSorted()

test(
  'a fortnight of two streams: counts are exact, no hour exceeds the pace, nobody without consent is sent anything, and the ceiling is passed by one draft at most',
  { timeout: 1_800_000 },
  async () => {
    const follow_up = { subject: 'Again', body: 'Still there?' }
    const stream = await firm.stream({ pace_per_hour, follow_up_after_days: 7, follow_up })
    const cost_ceiling_pence = Math.ceil(leads / 4)
    const drafted = await firm.stream({
      pace_per_hour,
      message_mode: 'drafted',
      cost_ceiling_pence,
      texts: [{ subject: 'Drafted', body: 'Tell them of us.' }],
    })

    const agreed: string[] = []
    const others: string[] = []
    const several = 8
    for (let from = 0; from < leads; from += several) {
      const numbers = Array.from({ length: Math.min(several, leads - from) }, (_, number) => from + number)
      await Promise.all(
        numbers.map(async (number) => {
          const isAgreed = number % 4 !== 3
          ;(isAgreed ? agreed : others).push(await firm.lead({ consents: isAgreed ? { email: true } : null }))
        }),
      )
    }
    for (let from = 0; from < leads; from += 100) {
      const some = [...agreed, ...others].slice(from, from + 100)
      await firm.join(stream, ...some)
      await firm.join(drafted, ...some)
    }

    /** Hour by hour, from so many that are sent to so many. A permit that was not used in time costs a place of its hour. */
    const sendAll = async (before: number, count: number) => {
      const mostHours = 3 * Math.ceil(agreed.length / pace_per_hour)
      let sent = before
      for (let hours = 0; sent < count && hours < mostHours; hours++) {
        const most = Math.min(count, sent + pace_per_hour)
        let lastChange = Date.now()
        await firm.until(
          `${most} are sent`,
          async () => {
            const now = Number((await firm.read(stream))['sent_count'])
            if (now > sent) lastChange = Date.now()
            sent = now
            return now >= most || Date.now() - lastChange > quietMs ? true : undefined
          },
          patienceMs,
        )
        await firm.forward(hour + 130)
      }
    }
    await sendAll(0, agreed.length)
    await firm.forward(7 * day)
    await sendAll(agreed.length, 2 * agreed.length)
    const stopped = await firm.until(
      'the ceiling stops the stream',
      async () => {
        const shown = await firm.read(drafted)
        return shown['budget_exceeded'] === true ? shown : undefined
      },
      patienceMs,
    )
    await firm.forward(7 * day)

    const outbox = await firm.outbox()
    const [byWriter, byText] = [true, false].map((isDrafted) =>
      outbox.filter(({ content }) => (content.subject === 'Drafted') === isDrafted),
    )
    expect(people(outbox).filter((each) => others.includes(each))).toEqual([])
    expect(people(byText ?? [])).toEqual([...agreed, ...agreed].toSorted())
    expect(mostInAnHour(byText ?? [])).toBeLessThanOrEqual(pace_per_hour)
    expect(mostInAnHour(byWriter ?? [])).toBeLessThanOrEqual(pace_per_hour)
    expect(await firm.read(stream)).toMatchObject({
      rows_count: leads,
      skipped_count: others.length,
      analysed_count: leads,
      sent_count: 2 * agreed.length,
      errored_count: 0,
      awaiting_approval_count: 0,
      budget_exceeded: false,
    })

    const costs = await firm.costs(drafted)
    const spent = costs.length * draft_micro_pence
    expect(spent).toBeGreaterThanOrEqual(cost_ceiling_pence * 1_000_000)
    expect(spent).toBeLessThan(cost_ceiling_pence * 1_000_000 + draft_micro_pence)
    expect(stopped).toMatchObject({
      rows_count: leads,
      skipped_count: others.length,
      total_cost_pence: Math.round(spent / 1_000_000),
      errored_count: 0,
    })
    expect(new Set(people(byWriter ?? [])).size).toBe(byWriter?.length)
    expect(byWriter?.length).toBeLessThanOrEqual(costs.length)
  },
)
