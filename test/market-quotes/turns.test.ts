import { setImmediate as soon } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { systemClock } from '#infra/clock.ts'
import { derivedId } from '#infra/ids.ts'
import { makeLog } from '#infra/log.ts'
import { searchMarket } from '../../command-api/applications/search-market.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { memoryLog } from '../premiums/bank.ts'

/** Whose turn it is, of searches whose steps end when they are told to. */
const openTurns = () => {
  const begun: string[] = []
  const ending: (() => void)[] = []
  const log = {
    ...memoryLog().log,
    read: async (stream: string) => {
      begun.push(stream)
      await new Promise<void>((resolve) => {
        ending.push(resolve)
      })
      return []
    },
  }
  const { fire } = searchMarket({
    writer: makeWriter({ log, seen: async () => undefined }),
    panel: { begin: async () => undefined, read: async () => undefined },
    openAccount: () => undefined,
    clock: systemClock,
    log: makeLog('silent', 'test'),
  })
  const ask = async (name: string, ...numbers: readonly number[]) => {
    const organisation_id = OrganisationId.parse(derivedId('organisation', name))
    const actor = { type: 'system', id: null } as const
    for (const number of numbers) {
      const id = `${name}${number}`
      await fire(
        { organisation_id, kind: 'market_search', id, stream: `application-${id}`, due_at: '' },
        { organisation_id, actor, correlation_id: 'test', now: '' },
      )
    }
    await soon()
  }
  const endOne = async () => {
    ending.shift()?.()
    for (let turns = 0; turns < 5; turns++) await soon()
  }
  return { begun, ask, endOne }
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('one organisation with ever so many searches leaves the places of the others free', async () => {
  const { begun, ask } = openTurns()
  await ask('hostile', ...upTo(12_000))
  expect(begun).toHaveLength(8)

  await ask('other', 0)

  expect(begun.at(-1)).toBe('application-other0')
})

test('while organisations with many searches have all places, the next free one is for another that asks', async () => {
  const { begun, ask, endOne } = openTurns()
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  for (const each of many) await ask(each, ...upTo(20))
  expect(begun).toHaveLength(64)

  await ask('other', 0, 1)
  for (let ended = 0; ended < 9; ended++) await endOne()

  expect(begun.slice(64).filter((stream) => stream.startsWith('application-other'))).toHaveLength(2)
})
