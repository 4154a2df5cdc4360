import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NewEvent } from '#domain/event.ts'
import { appended, asAppended, firstEvents, idsOf, newCategory, newEvent, newEvents, newStream } from './events.ts'
import type { MakeLog } from './log-under-test.ts'

export const contentContract = (makeLog: MakeLog) =>
  describe('content', () => {
    test('names hold any Unicode', async () => {
      await using made = await makeLog()
      const category = newCategory('名前é🎉')
      const names = [
        'Ω',
        '🎉🏳️‍🌈',
        "o'brien",
        '"quoted"',
        '{a,b}',
        '$1',
        '100%',
        'a\\b',
        'NULL',
        'ﬁ',
        'é',
        'e\u0301',
        'a b-c-d',
      ]
      const streams = names.map((name) => `${category}-${name}`)
      for (const stream of streams) await appended(made.log, stream, [newEvent('Größe🎉Geändert')], 'no_stream')

      const subscribed = await firstEvents(
        made.log,
        { categories: [category], types: ['Größe🎉Geändert'] },
        streams.length,
      )

      expect(subscribed.map(({ stream }) => stream)).toEqual(streams)
      for (const stream of streams) expect(await made.log.read(stream)).toMatchObject([{ stream, revision: 0 }])
    })

    test('JSON of any kind comes back as it was', { timeout: 60_000 }, async () => {
      await using made = await makeLog()
      const text = fc.string({ unit: 'binary' })
      const data = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary', depthSize: 'medium' }))

      await fc.assert(
        fc.asyncProperty(data, async (value) => {
          const stream = newStream()
          const event = newEvent('AnyJson', JSON.parse(JSON.stringify(value)) as typeof value)
          await appended(made.log, stream, [event])

          const [read] = await made.log.read(stream)
          expect(JSON.stringify(read?.data)).toBe(JSON.stringify(event.data))
        }),
        { numRuns: 60 },
      )
    })

    test('JSON that other stores stumble over comes back as it was', async () => {
      await using made = await makeLog()
      const stream = newStream()
      const text = String.raw`{"nul":"a\u0000b","lone":"\ud800","pair":"🎉","__proto__":{"x":1},"":null,"é":1e-7,"big":9007199254740991,"b":1,"a":2,"10":0,"html":"</script>","esc":"\\u0000"}`
      const event = newEvent('Odd', JSON.parse(text) as NewEvent['data'])
      await appended(made.log, stream, [event])

      const [read] = await made.log.read(stream)

      expect(JSON.stringify(read?.data)).toBe(JSON.stringify(event.data))
      expect(Object.keys(read?.data ?? {})).toEqual(Object.keys(event.data))
    })

    test('an event may have a megabyte', async () => {
      await using made = await makeLog()
      const category = newCategory()
      const stream = newStream(category)
      const event = newEvent('Large', { text: 'ab'.repeat(500_000) })
      await appended(made.log, stream, [event])

      const [read] = await made.log.read(stream)
      const [subscribed] = await firstEvents(made.log, { categories: [category] }, 1)

      expect(read && asAppended(read)).toEqual(event)
      expect(subscribed && asAppended(subscribed)).toEqual(event)
    })

    test('a stream may have ten thousand events', { timeout: 120_000 }, async () => {
      await using made = await makeLog()
      const category = newCategory()
      const stream = newStream(category)
      const events = newEvents(10_000)
      for (let start = 0; start < events.length; start += 500)
        await appended(made.log, stream, events.slice(start, start + 500), start === 0 ? 'no_stream' : start - 1)

      const read: string[] = []
      for (;;) {
        const page = await made.log.read(stream, { from: read.length })
        read.push(...idsOf(page))
        if (page.length < 1_000) break
      }
      const subscribed = await firstEvents(made.log, { categories: [category] }, events.length)

      expect(read).toEqual(idsOf(events))
      expect(idsOf(subscribed)).toEqual(idsOf(events))
    })
  })
