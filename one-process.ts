import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { startCommandApi } from './command-api/command-api.ts'
import { startDeliveryWorker } from './delivery-worker/delivery-worker.ts'
import { demoApplication, isDemoHere, setUpDemo } from './demo/demo.ts'
import { demoUserKey } from './demo/demo-user.ts'
import { explorerDemo, prepareExplorer } from './demo/explorer.ts'
import { declaredOrigin, startDemoSalesPage } from './demo/sales-page/start.ts'
import { clockCheck } from './infra/clock.ts'
import { untilOwnVersions } from './infra/consumers/own-versions.ts'
import { erasedAgainCheck } from './infra/crypto/erased-keys-file.ts'
import { BadConfiguration, readConfig, type Config } from './infra/config.ts'
import { keepPostgresRunning } from './infra/postgres/embedded/kept-running.ts'
import { openHealthPort } from './infra/health-port.ts'
import { withPublicHealth } from './infra/http/health.ts'
import { idleUnderLoadMs, listen } from './infra/http/listen.ts'
import { makeLog } from './infra/log.ts'
import { clusterDirectory, inDataDir, type Secrets } from './infra/local-installation.ts'
import { nameMeantSettings } from './infra/misspelt-settings.ts'
import { openParts, type Role } from './infra/role-parts.ts'
import type { Running } from './infra/process.ts'
import { reportProcess } from './infra/process-report.ts'
import { startProjections } from './projections/projections.ts'
import { startQueryApi } from './query-api/query-api.ts'
import { startStandIns } from './stand-ins/demo.ts'

/** The options by which the other commands find this service, as far as they would not by themselves. */
const whereToFind = ({ BASE_URL, DATA_DIR }: Config): string => {
  const byDefault = readConfig({})
  const settings = [
    ...(BASE_URL === byDefault.BASE_URL ? [] : [`BASE_URL=${BASE_URL}`]),
    ...(DATA_DIR === byDefault.DATA_DIR ? [] : [`DATA_DIR='${DATA_DIR}'`]),
  ]
  return settings.map((setting) => `${setting} `).join('')
}

const welcome = async (config: Config, salesPage: string | undefined, userKey: string): Promise<string> => {
  const { client_id, client_secret } = await demoApplication()
  const { BASE_URL, OPERATOR_KEY } = config
  return `
Coverstream is ready at ${BASE_URL}   (explorer: ${BASE_URL}/api/v1/explorer)
${salesPage === undefined ? '' : `A page that sells a policy: ${salesPage}\n`}For the people of the firm: ${BASE_URL}/console   (sign in with the key ${userKey})

  client_id      ${client_id}
  client_secret  ${client_secret}
  operator key   ${OPERATOR_KEY}

Get a token and read the products:

  TOKEN=$(curl -s ${BASE_URL}/oauth/token -d grant_type=client_credentials -d client_id=${client_id} \\
    -d client_secret=${client_secret} -d 'scope=read write' -d resource=${BASE_URL}/api/v1 \\
    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -s ${BASE_URL}/api/v1/products -H "Authorization: Bearer $TOKEN"

Play the whole journey in another terminal:  ${whereToFind(config)}npm run demo
Stop with Ctrl-C; the data stays.
`
}

/** In production nothing is printed that opens the service. */
const welcomeToProduction = ({ BASE_URL, DATA_DIR, OPERATOR_KEY }: Config, ownOperatorKey: string): string => `
Coverstream is ready at ${BASE_URL}   (for the people of a firm: ${BASE_URL}/console)
The operator key is ${OPERATOR_KEY === ownOperatorKey ? `in ${join(DATA_DIR, 'secrets.json')}` : 'that of OPERATOR_KEY'}. Set a firm up with npm run setup -- FILE (docs/set-up.md).
`

/** Where a server that listens on an address can be reached from this machine. */
const hostToReach = (host: string): string => {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return reachable.includes(':') ? `[${reachable}]` : reachable
}

const isLoopback = (host: string): boolean => /^(127\.[\d.]+|\[?::1\]?|localhost)$/.test(host)

export type OwnSettings = { readonly config: Config; readonly secrets: Secrets }

/** Starts all roles in this process, with a PostgreSQL of its own unless another is named. */
export const startOneProcess = async ({ config, secrets }: OwnSettings, signal: AbortSignal): Promise<Running> => {
  const { DATA_DIR, ENVIRONMENT } = config
  const isDemo = ENVIRONMENT === 'test'
  const log = makeLog(config.LOG_LEVEL, 'all')
  nameMeantSettings(log)

  const health = await openHealthPort('all', config)
  const embedded =
    config.DATABASE_URL === 'embedded'
      ? await inDataDir(DATA_DIR, () => keepPostgresRunning({ dataDir: clusterDirectory(DATA_DIR), log }))
      : undefined
  void embedded?.lost.then(() => {
    throw new Error('PostgreSQL ended by itself, twice in a minute. Start again: what was answered is on its disk.')
  })
  const url = embedded?.shortestUrl ?? config.DATABASE_URL
  const { parts: opened, close } = await openParts(config, log, signal, url, 'one process', health)
  // What the demo itself sends is not counted: else three pages of the explorer used up the limit of whoever opens them.
  const sentByDemo = new AsyncLocalStorage<true>()
  const rateLimit: typeof opened.rateLimit = async (who) =>
    sentByDemo.getStore() ? { served: true } : opened.rateLimit(who)
  const parts = { ...opened, rateLimit }
  const reporting = reportProcess({ ...parts, role: 'all', checks: health.checks })

  const operatorKey = config.OPERATOR_KEY ?? secrets.OPERATOR_KEY
  // Only a demo that no other machine can reach, nor a proxy lets others reach, hands out its keys.
  const isPrivate = isDemo && isLoopback(config.HOST) && isLoopback(new URL(config.BASE_URL).hostname)
  const origin = () => `http://${hostToReach(config.HOST)}:${server.port}`
  const demoOrigin = () => `http://127.0.0.1:${demoServer.port}`
  const explorer = explorerDemo(() => prepareExplorer(demoOrigin(), config.BASE_URL, operatorKey, log))
  const projections = await startProjections(parts)
  await untilOwnVersions(parts)
  const [commandApi, queryApi, deliveryWorker] = await Promise.all([
    startCommandApi(parts),
    startQueryApi(parts, { demo: isPrivate ? explorer.forPage : undefined, ownOrigin: origin }),
    startDeliveryWorker(parts),
  ])
  const roles: readonly Role[] = [commandApi, queryApi, projections, deliveryWorker]
  let isSetUp = !isDemo
  const checks = async () => [
    { name: 'set-up', ok: isSetUp },
    clockCheck(parts.clock),
    await erasedAgainCheck(parts.pool),
    ...(await Promise.all(roles.map(async (role) => role.checks()))).flat(),
  ]
  const serveApis: RequestListener = (request, response) => {
    // Whoever opens the address that the welcome prints sees something.
    if (request.method === 'GET' && request.url === '/')
      return void response.writeHead(302, { location: '/api/v1/explorer' }).end()
    explorer.pressed(request)
    const { app } = queryApi.isRead(request.method, request.url) ? queryApi : commandApi
    app(request, response)
  }

  const demoServer = await listen(
    (request, response) => sentByDemo.run(true, () => serveApis(request, response)),
    '127.0.0.1',
    0,
  )
  if (!isDemo && (await isDemoHere(demoOrigin(), config.BASE_URL)))
    throw new BadConfiguration(
      'ENVIRONMENT: is production, and the demo firm is set up here, whose secret is published. Choose an empty DATA_DIR and database.',
    )
  const server = await listen(withPublicHealth(health.checks, serveApis), config.HOST, config.PORT, 'PORT', {
    idleMs: idleUnderLoadMs,
  })
  health.started(checks)
  const standIns = isDemo ? await startStandIns(`http://127.0.0.1:${server.port}`, DATA_DIR) : undefined
  const salesPage = standIns && (await startDemoSalesPage(DATA_DIR, { origin: origin(), baseUrl: config.BASE_URL }))
  const addresses = { ...standIns?.addresses, ...(salesPage && { [declaredOrigin]: salesPage.url }) }
  if (isDemo) await setUpDemo(demoOrigin(), operatorKey, addresses, join(DATA_DIR, 'demo-set-up-unfinished'))
  const userKey = isDemo ? await demoUserKey(demoOrigin(), operatorKey, DATA_DIR) : ''
  isSetUp = true
  process.stdout.write(
    isDemo ? await welcome(config, salesPage?.url, userKey) : welcomeToProduction(config, secrets.OPERATOR_KEY),
  )

  return {
    drain: async () => {
      health.drain()
      for (const role of roles) role.drain?.()
      // What is being sent may last nearly as long as a process has to stop.
      void deliveryWorker.stop()
      await Promise.all([server.close(), demoServer.close()])
    },
    stop: async () => {
      await Promise.all([salesPage?.close(), standIns?.close()])
      await Promise.all(roles.map(async (role) => role.stop()))
      await reporting.finished
      await close()
      await health.close()
      await embedded?.stop()
    },
  }
}
