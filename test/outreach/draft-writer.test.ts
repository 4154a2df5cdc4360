import { afterAll, describe, expect, test } from 'vitest'
import { noSettings } from '#domain/outreach/record.ts'
import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import { deterministicWriter, modelWriter, type Brief } from '../../command-api/outreach/draft-writer.ts'
import { startDraftWriter } from '../../stand-ins/draft-writer.ts'
import { outsideHttp } from '../outside-http.ts'

const brief = (say: string, answers: string | null = null): Brief => ({
  id: '0e000000-0000-4000-8000-000000000001',
  stream: {
    kind: 'mailshot',
    purpose: 'first_party_marketing',
    goal: 'sales',
    channels: ['email'],
    from_name: 'A firm',
  },
  text: { subject: 'Hello', body: say },
  known: { first_name: 'Ann', last_name: 'Finch', renewal: '2026-04-01' },
  answers,
})

describe('a language model of the organisation’s own', async () => {
  const model = await startDraftWriter()
  const http = outsideHttp(({ body }) => body?.includes('[[silence]]') ?? false)
  afterAll(() => Promise.all([model.close(), http.close()]))

  // The stand-in reads 900 tokens and writes 100 for each draft.
  const price = { input_usd_micros: 1_000_000, output_usd_micros: 4_000_000 }
  const cost = 900 + 4 * 100
  const account = { base_url: model.url, account: 'writer-1', secret: 'key' }
  const priced = { ...noSettings, writer_price: price }
  const writer = modelWriter(openAiCompatible(http), account, priced)

  test('writes what it is told to say, and its tokens are the cost', async () => {
    const written = await writer.write(brief('Tell them of our prices.'))
    expect(written).toEqual({
      outcome: 'written',
      subject: 'Hello',
      body: 'Dear Ann, Tell them of our prices.',
      usd_micros: cost,
      model: 'writer-1',
    })
  })

  test('answers what a person wrote', async () => {
    const written = await writer.write(brief('Answer them.', 'Do you cover "bikes"?'))
    expect(written).toMatchObject({ body: 'Dear Ann, you wrote: Do you cover "bikes"?' })
  })

  test('is told nothing of the person but their first name, and knows a repeat by its key', async () => {
    await writer.write(brief('Once more.'))
    const [asked, header] = [model.requests.at(-1)?.text ?? '', model.requests.at(-1)?.header('idempotency-key')]
    expect(asked).toContain('Ann')
    expect(asked).not.toContain('Finch')
    expect(header).toBe('0e000000-0000-4000-8000-000000000001')
  })

  test('is given the whole brief, however long', async () => {
    const long = `${'ä'.repeat(7_990)} the end.`
    expect(await writer.write(brief(long, '"'.repeat(2_000)))).toMatchObject({ outcome: 'written' })
    expect(model.requests.at(-1)?.text).toContain('the end.')
    expect(Buffer.byteLength(model.requests.at(-1)?.text ?? '') * price.input_usd_micros).toBeLessThan(
      writer.most_usd_micros * 1_000_000,
    )
  })

  // No more tokens than bytes are read, and no more than 700 are written.
  const mostOf = (asked: string | undefined) => ({
    atLeast: Buffer.byteLength(asked ?? '') / 4 + 4 * 700,
    atMost: Buffer.byteLength(asked ?? '') + 4 * 700,
  })

  test('that does not say what it took costs the most that it can have taken', async () => {
    const written = await writer.write(brief('Hello. [[no usage]]'))
    const { atLeast, atMost } = mostOf(model.requests.at(-1)?.text)
    expect(written.outcome).toBe('written')
    expect(written.usd_micros).toBeGreaterThan(atLeast)
    expect(written.usd_micros).toBeLessThanOrEqual(atMost)
  })

  test('that does not answer in time costs the most that it can have taken', async () => {
    const failed = await writer.write(brief('[[silence]]'))
    const { atLeast, atMost } = mostOf(model.requests.at(-1)?.text)
    expect(failed).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('did not answer') as string })
    expect(failed.usd_micros).toBeGreaterThan(atLeast)
    expect(failed.usd_micros).toBeLessThanOrEqual(atMost)
    expect(failed.usd_micros).toBeLessThanOrEqual(writer.most_usd_micros)
  })

  test('that nobody listens for was not asked, and costs nothing', async () => {
    const nowhere = modelWriter(openAiCompatible(http), { ...account, base_url: 'http://127.0.0.1:1' }, priced)
    expect(await nowhere.write(brief('Anything.'))).toMatchObject({ outcome: 'failed', usd_micros: 0 })
  })

  test.each([
    ['[[unavailable]]', 'status 503', 0],
    ['[[rate limit]]', 'busy', 0],
    ['[[refuse]]', 'wrote no message', cost],
  ])('that fails at %s has written nothing, and costs what it costs', async (say, reason, usd_micros) => {
    const failed = await writer.write(brief(say))
    expect(failed).toEqual({
      outcome: 'failed',
      reason: expect.stringContaining(reason) as string,
      usd_micros,
      model: 'writer-1',
    })
  })

  test('on a private network is not reached', async () => {
    const elsewhere = modelWriter(openAiCompatible(http), { ...account, base_url: 'https://10.0.0.1/v1' }, priced)
    expect(await elsewhere.write(brief('Anything.'))).toMatchObject({ outcome: 'failed', usd_micros: 0 })
  })
})

test('without an account the texts themselves are sent, which costs nothing', async () => {
  expect(await deterministicWriter.write(brief('Your cover ends on {{renewal}}.'))).toEqual({
    outcome: 'written',
    subject: 'Hello',
    body: 'Hello Ann,\n\nYour cover ends on 2026-04-01.',
    usd_micros: 0,
    model: 'deterministic',
  })
})
