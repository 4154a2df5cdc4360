import { categoryOf } from '#domain/event.ts'
import type { EventLog } from '#infra/event-log/event-log.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLiveFolds } from '#infra/consumers/live-folds.ts'
import { makeLog } from '#infra/log.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { makeSecretCheck } from '#infra/crypto/secret-hash.ts'
import { organisationPlanner } from '../../command-api/access/organisation-setup.ts'
import { makeApproval } from '../../command-api/approvals/approval.ts'
import { makeEarlierTable } from '../../command-api/catalogue/earlier-table.ts'
import { catalogueAdminRoutes } from '../../command-api/catalogue/routes.ts'
import { makeAlone } from '../../command-api/writing/alone.ts'
import { makeTurns } from '../../command-api/writing/turns.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { betweenCapabilities, followSetUp } from '../../command-api/command-side.ts'
import { setupSections } from '../../command-api/setup-sections.ts'
import { setupExportRoute } from '../../command-api/setup-file/export-route.ts'
import { setupRoutes } from '../../command-api/setup-file/routes.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { serve } from '../serve.ts'

const keys = deriveKeys('bWFzdGVyIGtleSBvZiB0aGUgdGVzdHMsIDMyIGJ5dGVzIGxvbmc=')

/** The operator's routes for setting a firm up, on a log of their own. */
export const setupApi = async ({
  sold = false,
  logOf = (log: EventLog) => log,
}: { readonly sold?: boolean; readonly logOf?: (log: EventLog) => EventLog } = {}) => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const eventLog = wholeLog(postgresLog({ url: database.url }), database.pool)
  const stopping = new AbortController()
  const progress = makeProgress()
  const live = { eventLog, log: makeLog('silent', 'test'), signal: stopping.signal, progress }
  const folds = makeLiveFolds(live)
  const known = await followSetUp({ folds, eventLog })
  const { catalogue, directory } = known
  const writer = makeWriter({
    log: logOf(eventLog),
    seen: async (stream, position) => {
      await progress.wait(categoryOf(stream), position, 5000)
    },
  })
  const hasSold = async () => sold
  const earlierTable = makeEarlierTable({ writer, pool: database.pool })
  writer.approval = makeApproval({ writer, keys, earlierTable })
  const sections = setupSections({
    ...known,
    ...betweenCapabilities(writer, catalogue),
    writer,
    pool: database.pool,
    checkSecret: makeSecretCheck(),
    keys,
    earlierTable,
    allowsHttp: (address) => address.startsWith('http://127.0.0.1'),
    hasSold,
    dataKeys: makeDataKeys({ pool: database.pool, keys }),
    shown: { eventLog, progress, withinMs: 5_000 },
    teamAlone: makeAlone({ pool: database.pool, turns: makeTurns() }, 'changes of a team'),
  })
  const { organisations } = directory
  const setup = setupRoutes({ planOrganisation: organisationPlanner({ writer, directory }), organisations, sections })
  const exporting = setupExportRoute({ organisations, sections })
  const api = await serve([...setup, exporting, ...catalogueAdminRoutes({ writer, catalogue, hasSold })])

  return {
    ...api,
    eventLog,
    sections,
    pool: database.pool,
    catalogue,
    live,
    plan: (text: string) => api.post('/admin/v1/setup', text),
    apply: (text: string) => api.post('/admin/v1/setup?apply=true', text),
    /** The set-up of an organisation, as YAML. */
    export: async (organisation_id: string): Promise<string> => {
      const answer = await fetch(`${api.origin}/admin/v1/organisations/${organisation_id}/setup`)
      return answer.text()
    },
    /** All that was ever written, as types of events. */
    written: async () => (await eventLog.readAll()).map(({ type }) => type),
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      stopping.abort()
      await eventLog.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
