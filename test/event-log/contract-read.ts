import { describe, expect, test } from 'vitest'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { allAfter, appended, idsOf, isVisible, newCategory, newEvents, newStream } from './events.ts'
import type { MakeLog } from './log-under-test.ts'

export const readContract = (makeLog: MakeLog) =>
  describe('read', () => {
    test('an unknown stream has no events', async () => {
      await using made = await makeLog()

      expect(await made.log.read(newStream())).toEqual([])
      expect(await made.log.read(newStream(), { direction: 'backwards' })).toEqual([])
    })

    test('a stream is read in pages, forwards and backwards, from any revision', async () => {
      await using made = await makeLog()
      const stream = newStream()
      await appended(made.log, stream, newEvents(10), 'no_stream')
      const revisions = async (page: Parameters<EventLog['read']>[1]) =>
        (await made.log.read(stream, page)).map(({ revision }) => revision)

      expect(await revisions({ limit: 3 })).toEqual([0, 1, 2])
      expect(await revisions({ from: 3, limit: 3 })).toEqual([3, 4, 5])
      expect(await revisions({ from: 8, limit: 3 })).toEqual([8, 9])
      expect(await revisions({ from: 10 })).toEqual([])
      expect(await revisions({ direction: 'backwards', limit: 3 })).toEqual([9, 8, 7])
      expect(await revisions({ direction: 'backwards', from: 6, limit: 3 })).toEqual([6, 5, 4])
      expect(await revisions({ direction: 'backwards', from: 1, limit: 3 })).toEqual([1, 0])
      expect(await revisions({ direction: 'backwards', from: 100, limit: 1 })).toEqual([9])
    })

    test('streams that are read at the same moment are told apart, short, long and unknown ones', async () => {
      await using made = await makeLog()
      const [short, long, unknown] = [newStream(), newStream(), newStream()]
      await appended(made.log, short, newEvents(3), 'no_stream')
      await appended(made.log, long, newEvents(47), 'no_stream')
      const reads = [
        { stream: long, page: {}, found: range(0, 47) },
        { stream: short, page: {}, found: range(0, 3) },
        { stream: unknown, page: {}, found: [] },
        { stream: long, page: { from: 10, limit: 20 }, found: range(10, 30) },
        { stream: long, page: { from: 10, limit: 21 }, found: range(10, 31) },
        { stream: long, page: { limit: 1 }, found: [0] },
        { stream: short, page: { from: 3 }, found: [] },
        { stream: long, page: { direction: 'backwards', limit: 2 }, found: [46, 45] },
      ] as const

      const read = await Promise.all(reads.map(async ({ stream, page }) => made.log.read(stream, page)))

      expect(read.map((events) => events.map(({ stream, revision }) => `${stream} ${revision}`))).toEqual(
        reads.map(({ stream, found }) => found.map((revision) => `${stream} ${revision}`)),
      )
    })

    test('the whole log is read in pages, forwards and backwards, in the same order', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const before = await appended(made.log, newStream(category), newEvents(1))
      const streams = [newStream(category), newStream(category)]
      for (let round = 0; round < 5; round++)
        for (const stream of streams) await appended(made.log, stream, newEvents(2))
      const after = await appended(made.log, newStream(category), newEvents(1))
      await isVisible(made.log, after.position)

      const forwards = await allAfter(made.log, before.position, 3)
      const upToLast = forwards.filter(({ position }) => position < after.position)
      const backwards = []
      for (let beyond = after.position; ;) {
        const page = await made.log.readAll({ beyond, direction: 'backwards', limit: 3 })
        const fresh = page.filter(({ position }) => position > before.position)
        backwards.push(...fresh)
        beyond = page.at(-1)?.position ?? beyond
        if (fresh.length < 3) break
      }

      const own = upToLast.filter(({ stream }) => stream.startsWith(category))
      expect(own).toHaveLength(20)
      expect(idsOf(backwards.toReversed())).toEqual(idsOf(upToLast))
      const positions = upToLast.map(({ position }) => position)
      expect(positions).toEqual(positions.toSorted())
      expect(new Set(positions).size).toBe(positions.length)
    })

    test('the last events of the log are read backwards from its very end', async () => {
      await using made = await makeLog()
      const { position } = await appended(made.log, newStream(), newEvents(3))
      await isVisible(made.log, position)

      const page = await made.log.readAll({ direction: 'backwards', limit: 5 })

      expect(page[0]?.position).toBe(await made.log.head())
      expect(page.map((event) => event.position)).toContain(position)
    })

    test('the head moves with every append, and so does the measure', async () => {
      await using made = await makeLog()
      const stream = newStream()

      const first = await appended(made.log, stream, newEvents(1))
      await isVisible(made.log, first.position)
      const second = await appended(made.log, stream, newEvents(1))
      await isVisible(made.log, second.position)

      expect(second.position > first.position).toBe(true)
      expect(made.log.measure(second.position)).toBeGreaterThan(made.log.measure(first.position))
    })
  })

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)
