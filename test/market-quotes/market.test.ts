import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { application } from '#domain/applications/application.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import { toStored } from '#domain/event.ts'
import { commandHandler } from '../../command-api/writing/handle.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { application_id } from '../applications/builders.ts'
import { found, now, resultOf, select } from '../applications/market-builders.ts'
import { memoryLog } from '../premiums/bank.ts'

/** An application whose market search has found prices, and processes that choose one. */
const openWorld = async () => {
  const { log, streamOf, kill } = memoryLog()
  const [first] = found
  if (first?.type !== 'ApplicationStarted') throw new Error('The application was not started.')
  const { organisation_id } = first
  const context = {
    organisation_id,
    actor: { type: 'system', id: null } as const,
    correlation_id: 'test',
    now,
  }
  const metadata = { ...context, causation_id: null, occurred_at: now }
  const stored = found.map((event) => ({ id: randomUUID(), ...toStored(applicationStreamEvents, event), metadata }))
  await log.append(`application-${application_id}`, 'no_stream', stored)
  const start = () => commandHandler(makeWriter({ log, seen: async () => undefined }), application)
  const added = () => streamOf(`application-${application_id}`).slice(found.length)
  return { start, added, kill, context }
}

test.each(['before', 'after'] as const)(
  'a process that is killed %s it has stored that a result was chosen leaves a state from which the same call hands off once',
  async (when) => {
    const { start, added, kill, context } = await openWorld()
    const command = select({ result_id: resultOf(1).result_id })
    kill.at = when
    await expect(start().handle(application_id, command, context)).rejects.toThrow('killed')

    for (let time = 0; time < 2; time++) await start().handle(application_id, command, context)

    expect(added().map(({ type }) => type)).toEqual(['MarketResultSelected', 'ApplicationHandedOff'])
  },
)

test('of two results that twenty requests choose at once, in two processes, one is handed off', async () => {
  const { start, added, context } = await openWorld()
  const processes = [start(), start()]

  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, async (_, index) =>
      processes[index % 2]?.handle(
        application_id,
        select({ result_id: resultOf(1 + (index % 4 < 2 ? 0 : 1)).result_id }),
        context,
      ),
    ),
  )

  expect(added().map(({ type }) => type)).toEqual(['MarketResultSelected', 'ApplicationHandedOff'])
  const refused = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  expect(refused).toHaveLength(10)
  for (const reason of refused) expect(reason).toMatchObject({ code: 'application_closed' })
})
