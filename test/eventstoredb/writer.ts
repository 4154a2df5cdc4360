import { LogUnavailable } from '#infra/event-log/event-log.ts'
import { eventStoreDbLog } from '#infra/event-log/eventstoredb/eventstoredb-log.ts'
import { runProcess } from '#infra/process.ts'
import { newEvents, newStream } from '../event-log/events.ts'

// A process as the roles are, which appends and follows for ever, and prints what came of it line by line.

runProcess(
  'writer',
  async () => {
    const log = eventStoreDbLog(process.argv[2] ?? '', { attemptMs: 300, wholeMs: 600, silenceMs: 100 })
    const print = (line: string) => process.stdout.write(`${line}\n`)
    const stopping = new AbortController()
    const append = async () => {
      while (!stopping.signal.aborted) {
        await log.append(newStream(), 'no_stream', newEvents(1)).then(
          () => print('appended'),
          (error: unknown) => print(error instanceof LogUnavailable ? 'unavailable' : `failed ${String(error)}`),
        )
      }
    }
    const follow = async () => {
      for await (const { events } of log.subscribe({ signal: stopping.signal }))
        if (events.length > 0) print('followed')
    }
    const finished = Promise.all([append(), append(), follow()])
    return {
      stop: async () => {
        stopping.abort()
        await log.close()
        await finished
      },
    }
  },
  { usage: 'Usage: node test/eventstoredb/writer.ts ADDRESS\n', understands: (words) => words.length === 1 },
)
