import { directoryFold, emptyDirectory } from '#domain/access/record.ts'
import { categoryOf } from '#domain/event.ts'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import { postgresLog, prepareLog } from '#infra/event-log/postgres/postgres-log.ts'
import { plainPermission } from '#infra/guarded-addresses.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { makeLiveFolds } from '#infra/consumers/live-folds.ts'
import { makeLog } from '#infra/log.ts'
import { makeProgress } from '#infra/consumers/progress.ts'
import { unseal } from '#infra/crypto/seal.ts'
import { organisationPlanner } from '../../command-api/access/organisation-setup.ts'
import { organisationRoutes } from '../../command-api/access/organisation-routes.ts'
import { makeWriter } from '../../command-api/writing/writer.ts'
import { followEndpointConnections } from '../../command-api/integrations/live-connections.ts'
import { endpointConnectionRoutes } from '../../command-api/integrations/routes.ts'
import { endpointConnectionsSection } from '../../command-api/integrations/setup.ts'
import { followLifecycleActions } from '../../command-api/workflows/live-actions.ts'
import { lifecycleActionRoutes } from '../../command-api/workflows/routes.ts'
import { lifecycleActionsSection } from '../../command-api/workflows/setup.ts'
import { setupRoutes } from '../../command-api/setup-file/routes.ts'
import { testDatabase } from '../database.ts'
import { wholeLog } from '../event-log/whole-log.ts'
import { serve } from '../serve.ts'
import { masterKey } from './fixture.ts'

/** The operator's routes for what is sent where, on a log of their own. The firm has one product, `term-life`. */
export const operatorApi = async () => {
  const database = await testDatabase()
  await prepareLog(database.pool)
  const eventLog = wholeLog(postgresLog({ url: database.url }), database.pool)
  const stopping = new AbortController()
  const progress = makeProgress()
  const folds = makeLiveFolds({ eventLog, log: makeLog('silent', 'test'), signal: stopping.signal, progress })
  const keys = deriveKeys(masterKey)
  const directory = await folds.follow(directoryFold, emptyDirectory())
  const connections = await followEndpointConnections(folds)
  const actions = await followLifecycleActions(folds)
  const writer = makeWriter({
    log: eventLog,
    seen: async (stream, position) => {
      await progress.wait(categoryOf(stream), position, 5000)
    },
  })
  const catalogue = { slugs: () => ['term-life'] }
  const allowsHttp = plainPermission({ allowedHosts: ['127.0.0.1'], allowHttp: true }, 'http:')
  const unnamed = () => {
    throw new Error('Nothing is exported here.')
  }
  const sections = [
    endpointConnectionsSection({ writer, keys, allowsHttp, connections }),
    lifecycleActionsSection({ writer, catalogue, actions, namesOf: unnamed }),
  ]
  const api = await serve([
    ...setupRoutes({
      planOrganisation: organisationPlanner({ writer, directory }),
      organisations: directory.organisations,
      sections,
    }),
    ...organisationRoutes({ writer, directory }),
    ...endpointConnectionRoutes({ writer, keys, connections, allowsHttp }),
    ...lifecycleActionRoutes({ writer, actions, catalogue }),
  ])

  const register = async (slug: string): Promise<string> => {
    const { body } = await api.post('/admin/v1/organisations', { slug, name: slug })
    return (body as { data: { id: string } }).data.id
  }
  const organisation_id = await register('harbour')

  return {
    ...api,
    organisation_id,
    register,
    connections: `/admin/v1/organisations/${organisation_id}/endpoint_connections`,
    actions: `/admin/v1/organisations/${organisation_id}/lifecycle_actions`,
    delete: (path: string) => api.send('DELETE', path),
    plan: (text: string) => api.post('/admin/v1/setup', text),
    apply: (text: string) => api.post('/admin/v1/setup?apply=true', text),
    /** Everything that the log holds, as text. */
    everything: async () => JSON.stringify(await eventLog.readAll()),
    /** The secret of a connection, as a delivery worker would open it. */
    secretOf: async (id: string): Promise<string | undefined> => {
      const events = await eventLog.read(`endpoint_connection-${id}`)
      const sealed = events.map(({ data }) => data['sealed_secret']).findLast((each) => typeof each === 'string')
      return sealed === undefined ? undefined : unseal(keys, sealed, signingSecretBinding(organisation_id, id))
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      stopping.abort()
      await eventLog.close()
      await database[Symbol.asyncDispose]()
    },
  }
}
