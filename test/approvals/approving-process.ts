import { readConfig } from '#infra/config.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { makeLog } from '#infra/log.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { openParts } from '#infra/role-parts.ts'
import { startCommandApi } from '../../command-api/command-api.ts'

// The command side, which killed.test.ts lets do what was approved, and which kills itself at one of its writes.

const [url = '', type = '', when = ''] = process.argv.slice(2)
const kill = () => process.kill(process.pid, 'SIGKILL')

const mortal = (log: EventLog): EventLog => ({
  ...log,
  append: async (stream, expected, events) => {
    const isLast = events.some((each) => each.type === type)
    if (isLast && when === 'before') kill()
    const appended = await log.append(stream, expected, events)
    if (isLast) kill()
    return appended
  },
})

const config = readConfig(process.env)
const { signal } = new AbortController()
const log = makeLog('silent', 'test')
const { parts } = await openParts(config, log, signal, url, 'one process', { metrics: makeMetrics() })
await startCommandApi({ ...parts, eventLog: mortal(parts.eventLog), pollMs: 50 })
process.on('disconnect', kill)
