import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { Config } from '#infra/config.ts'
import { makeMetrics } from '#infra/metrics.ts'
import { commandsOf } from './guides/guide.ts'

const folder = join(import.meta.dirname, '..', 'deploy')
const read = (...path: readonly string[]) => readFile(join(folder, ...path), 'utf8')
const run = promisify(execFile)

/** True where a program is on this machine. */
const isThere = async (program: string): Promise<boolean> =>
  run('which', [program]).then(
    () => true,
    () => false,
  )
const [hasPromtool, hasKubectl] = await Promise.all([isThere('promtool'), isThere('kubectl')])

const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string(), for: z.string() })) })),
})
const rules = async () =>
  Rules.parse(parse(await read('prometheus', 'alerts.yaml'))).groups.flatMap((each) => each.rules)

const Dashboard = z.object({
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })),
    }),
  ),
})
const panels = async () => Dashboard.parse(JSON.parse(await read('grafana', 'coverstream.json'))).panels

/** The metrics that an expression names, without what Prometheus makes of a histogram. */
const metricsIn = (expression: string): readonly string[] =>
  (expression.match(/\b(coverstream|process|nodejs)_\w+/g) ?? []).map((name) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )

const known = async (): Promise<ReadonlySet<string>> =>
  new Set((await makeMetrics().registry.getMetricsAsJSON()).map(({ name }) => name))

test('each alert of the guide is a rule, with the same expression', async () => {
  const guide = await readFile(join(folder, '..', 'docs', 'operate.md'), 'utf8')
  const [, table = ''] = /^## Alerts$(.*?)^## /ms.exec(guide) ?? []
  const documented = [...table.matchAll(/^\| (?!Alert|-)([^|]*?) *\| `(.*?)`[^`]*? *\| /gm)]
  const nameOf = (title: string) =>
    title
      .split(' ')
      .map((word) => word.replace(/^./, (first) => first.toUpperCase()))
      .join('')

  expect(documented.length).toBeGreaterThan(10)
  expect((await rules()).map(({ alert, expr }) => [alert, expr])).toEqual(
    documented.map(([, title = '', expression = '']) => [nameOf(title), expression.replaceAll('\\|', '|')]),
  )
})

test('rules and dashboard ask for metrics that processes have, each by the name that they have it under', async () => {
  const names = await known()
  const expressions = [
    ...(await rules()).map(({ expr }) => expr),
    ...(await panels()).flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]

  expect(expressions.filter((each) => metricsIn(each).length === 0)).toEqual([])
  expect(expressions.flatMap(metricsIn).filter((name) => !names.has(name))).toEqual([])
})

test.skipIf(!hasPromtool)('promtool finds no fault in the rules (skipped without promtool)', async () => {
  const { stdout } = await run('promtool', ['check', 'rules', join(folder, 'prometheus', 'alerts.yaml')])
  expect(stdout).toContain('SUCCESS')
})

const Made = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
const Container = z.looseObject({
  command: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })),
  livenessProbe: z.object({ httpGet: z.object({ path: z.literal('/health/live'), port: z.literal('health') }) }),
  readinessProbe: z.object({ httpGet: z.object({ path: z.literal('/health/ready'), port: z.literal('health') }) }),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.object({ memory: z.string() }) }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
})
const Role = z.object({
  spec: z.object({
    replicas: z.int().optional(),
    template: z.object({ spec: z.looseObject({ containers: z.tuple([Container]) }) }),
  }),
})

test.skipIf(!hasKubectl)(
  'on Kubernetes there are two of every role, each confined, probed and kept (skipped without kubectl)',
  async () => {
    const { stdout } = await run('kubectl', ['kustomize', folder])
    const made = parseAllDocuments(stdout).map((each) => Made.parse(each.toJS()))
    const named = (kind: string) => made.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)
    const roles = made.filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name !== 'proxy')

    expect(roles.map(({ metadata: { name } }) => name).toSorted()).toEqual([
      'command-api',
      'command-api-work',
      'delivery-worker',
      'projections',
      'query-api',
    ])
    expect(named('PodDisruptionBudget').toSorted()).toEqual(named('Deployment').toSorted())
    const scaled = named('HorizontalPodAutoscaler')
    for (const role of roles) {
      const { replicas, template } = Role.parse(role).spec
      const [{ env }] = template.spec.containers
      expect([role.metadata.name, replicas]).toEqual([
        role.metadata.name,
        scaled.includes(role.metadata.name) ? undefined : 2,
      ])
      expect(env.filter(({ name }) => !Object.hasOwn(Config.shape, name))).toEqual([])
    }
    const settings = made.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'settings')
    expect(
      Object.keys(z.record(z.string(), z.string()).parse(settings?.['data'])).filter(
        (name) => !Object.hasOwn(Config.shape, name),
      ),
    ).toEqual([])
  },
)

test('the commands of the guide put every file that a process is told of into its secret', async () => {
  const [commands = ''] = await commandsOf('docs/operate.md', 'On Kubernetes')
  const made = await mkdtemp(join(tmpdir(), 'coverstream-kubernetes-'))
  await using cleaning = new AsyncDisposableStack()
  cleaning.defer(() => rm(made, { recursive: true }))
  // It says what it was told, in place of a cluster.
  const kubectl = 'kubectl() { echo kubectl "$@"; }'
  await symlink(folder, join(made, 'deploy'))
  const { stdout } = await run('sh', ['-euc', `${kubectl}\n${commands}`], { cwd: made })
  const given = new Map(
    [...stdout.matchAll(/create secret generic (\S+)(.*)/g)].map(([, name = '', files = '']) => [
      name,
      [...files.matchAll(/--from-file=secrets\/(\S+)/g)].map(([, file = '']) => file),
    ]),
  )
  const manifests = (
    await Promise.all(['settings.yaml', 'workers.yaml'].map((name) => read('kubernetes', name)))
  ).join()
  const told = [...manifests.matchAll(/\/run\/secrets\/(coverstream|audit)\/(\w+)/g)]

  expect(told).toHaveLength(6)
  for (const [, secret, file] of told)
    expect(given.get(secret === 'audit' ? 'coverstream-audit' : 'coverstream')).toContain(file)
  const files = await readdir(join(made, 'secrets'))
  expect([...given.values()].flat().filter((file) => !files.includes(file))).toEqual([])
  expect(stdout).toMatch(/^kubectl apply -k deploy$/m)
})

test('the proxy on Kubernetes finds the lines that it changes in the configuration of docker compose', async () => {
  const [proxy, nginx] = await Promise.all([read('kubernetes', 'proxy.yaml'), read('nginx.conf')])

  expect(proxy).toContain("sed -e '/^  resolver /d' -e 's|http://$api:4000;|http://$api;|'")
  expect(nginx).toMatch(/^ {2}resolver /m)
  expect(nginx).toContain('http://$api:4000;')
  const image = /nginx:\S+@sha256:[\da-f]{64}/.exec(proxy)?.[0]
  expect(await readFile(join(folder, '..', 'docker-compose.yml'), 'utf8')).toContain(`image: ${image}`)
})
