import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { Config, readConfig } from '#infra/config.ts'
import { halvesOf } from '../command-api/command.ts'
import { reachedFrom } from '../scripts/imports.ts'

const root = join(import.meta.dirname, '..')

const Service = z.object({
  image: z.string(),
  command: z.string().optional(),
  env_file: z.array(z.object({ path: z.string(), required: z.boolean() })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  secrets: z.array(z.string()).default([]),
  read_only: z.boolean(),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  mem_limit: z.string(),
  restart: z.literal('unless-stopped'),
  deploy: z.object({ replicas: z.int() }).optional(),
})
const Compose = z.object({
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})

const readCompose = async () => {
  const text = await readFile(join(root, 'docker-compose.yml'), 'utf8')
  const { services, secrets } = Compose.parse(parse(text, { merge: true }))
  const serviceOf = (name: string) => {
    const service = services[name]
    if (!service) throw new Error(`There is no service ${name}.`)
    return service
  }
  return {
    text,
    services,
    secrets,
    serviceOf,
    roles: Object.values(services).filter(({ image }) => image === 'coverstream'),
  }
}

/** The secrets as the command of the file makes them. */
const madeSecrets = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coverstream-compose-'))
  await promisify(execFile)('sh', [join(root, 'deploy', 'make-secrets.sh')], { cwd: directory })
  const folder = join(directory, 'secrets')
  return { folder, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

test('every role has settings that it can read, and a health check that asks its health port', async () => {
  const { roles } = await readCompose()
  await using made = await madeSecrets()

  expect(roles.map(({ command }) => command)).toEqual([
    'node command-api/main.ts --serve',
    'node command-api/main.ts --work',
    'node query-api/main.ts',
    'node projections/main.ts',
    'node delivery-worker/main.ts',
  ])
  for (const { environment = {}, healthcheck } of roles) {
    expect(Object.keys(environment).filter((name) => !Object.hasOwn(Config.shape, name))).toEqual([])
    const withDefaults = Object.entries(environment).map(
      ([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1').replace('/run/secrets', made.folder)] as const,
    )
    const { HEALTH_PORT, MASTER_KEY, OPERATOR_KEY, DATABASE_URL } = readConfig(Object.fromEntries(withDefaults))
    expect(MASTER_KEY).toHaveLength(44)
    expect(OPERATOR_KEY).toHaveLength(48)
    const password = (await readFile(join(made.folder, 'postgres_password'), 'utf8')).trim()
    expect(DATABASE_URL).toBe(`postgres://coverstream:${password}@postgres:5432/coverstream`)
    const [kind, program, flag, script = ''] = healthcheck?.test ?? []
    expect([kind, program, flag]).toEqual(['CMD', 'node', '-e'])
    expect(() => new Script(script)).not.toThrow()
    expect(script).toContain(`http://127.0.0.1:${HEALTH_PORT}/health/ready`)
  }
})

test('every role is given all settings of .env, so that a key can be replaced', async () => {
  const { roles } = await readCompose()

  for (const { env_file } of roles) expect(env_file).toEqual([{ path: '.env', required: false }])
})

test('every secret is a file that is made once, and no password stands in the file itself', async () => {
  const { text, secrets, services } = await readCompose()
  await using made = await madeSecrets()
  const used = new Set(Object.values(services).flatMap((service) => service.secrets))

  expect([...used].toSorted((one, other) => one.localeCompare(other))).toEqual(
    Object.keys(secrets).toSorted((one, other) => one.localeCompare(other)),
  )
  for (const [name, { file }] of Object.entries(secrets)) expect(file).toBe(`./secrets/${name}`)
  // A certificate is nobody's to make but an authority's.
  expect((await readdir(made.folder)).toSorted((one, other) => one.localeCompare(other))).toEqual(
    Object.keys(secrets)
      .filter((name) => !name.startsWith('tls_'))
      .toSorted((one, other) => one.localeCompare(other)),
  )
  expect(text).not.toMatch(/(PASSWORD|KEY|SECRET): |:\/\/\w+:\w+@/)
  await expect(
    promisify(execFile)('sh', [join(root, 'deploy', 'make-secrets.sh')], { cwd: join(made.folder, '..') }),
  ).rejects.toThrow(/File exists/)
})

test('no container has privileges that it does not need, or memory without a limit, or an image that may change', async () => {
  const { services } = await readCompose()

  for (const [name, service] of Object.entries(services)) {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service.read_only).toBe(name !== 'kafka')
    expect(service.mem_limit).toMatch(/^\d+[mg]$/)
    expect(service.image).toMatch(/^coverstream$|@sha256:[\da-f]{64}$|^eventstore\/eventstore:24\.10\.\d+$/)
  }
  expect(await readFile(join(root, 'Dockerfile'), 'utf8')).toMatch(/^FROM node:24-slim@sha256:[\da-f]{64}$/m)
})

test('other machines are served over TLS alone, by the profile for it', async () => {
  const { services, serviceOf } = await readCompose()
  const open = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))

  expect(open).toEqual([
    ['proxy', '127.0.0.1:8080:8080'],
    ['proxy-tls', '443:8443'],
  ])
  expect(serviceOf('proxy-tls')).toMatchObject({
    profiles: ['tls'],
    secrets: ['tls_certificate', 'tls_key'],
    volumes: [
      './deploy/nginx.conf:/etc/nginx/conf.d/default.conf:ro',
      './deploy/nginx-tls.conf:/etc/nginx/tls.conf:ro',
    ],
  })
  expect(await readFile(join(root, 'deploy', 'nginx.conf'), 'utf8')).toContain('include /etc/nginx/tls*.conf;')
  expect(await readFile(join(root, 'deploy', 'nginx-tls.conf'), 'utf8')).toMatch(/^listen 8443 ssl;$/m)
})

test('the image holds what its processes run, by name, and nothing else', async () => {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')
  const [first, ...named] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const run = [
    'command-api/main.ts',
    'query-api/main.ts',
    'projections/main.ts',
    'delivery-worker/main.ts',
    'cli/keys.ts',
  ]
  const needed = [...run, 'scripts/openapi.ts'].flatMap((entry) =>
    [...reachedFrom(join(root, entry))].filter(isAbsolute).map((file) => relative(root, file).split(sep)[0]),
  )

  expect(first).toBe('*')
  expect(named.every((line) => /^![\w.-]+$/.test(line))).toBe(true)
  expect([...new Set(needed)].filter((name) => !named.includes(`!${name}`))).toEqual([])
  for (const other of ['.env', 'secrets', 'test', 'made.txt']) expect(named).not.toContain(`!${other}`)
})

test('PostgreSQL takes the connections of two processes of every role, and some more', async () => {
  const { serviceOf } = await readCompose()
  const guide = await readFile(join(root, 'docs', 'operate.md'), 'utf8')
  const [, each = ''] = /^\| together(.*)\|$/m.exec(guide) ?? []
  const documented = each.split('|').slice(1).map(Number)

  const [, maximum] = /max_connections=(\d+)/.exec(serviceOf('postgres').command ?? '') ?? []

  expect(documented).toHaveLength(5)
  expect(Number(maximum)).toBeGreaterThanOrEqual(2 * documented.reduce((sum, count) => sum + count, 0) + 30)
})

test('the profile of Kafka has the broker that KAFKA_BROKERS is to name, which keeps its data in a volume', async () => {
  const { services, serviceOf, roles } = await readCompose()
  const { image, environment = {}, volumes } = serviceOf('kafka')

  expect(environment['KAFKA_ADVERTISED_LISTENERS']).toBe('PLAINTEXT://kafka:9092')
  expect(image).toMatch(/^apache\/kafka:4\./)
  expect(volumes).toEqual([`kafka:${environment['KAFKA_LOG_DIRS']}`])
  for (const role of roles) expect(role.environment?.['KAFKA_BROKERS']).toBe('${KAFKA_BROKERS:-}')
  expect(Object.keys(services)).toContain('delivery-worker')
})

test('both halves of command-api run in twos, and the proxy asks those alone that serve', async () => {
  const { serviceOf } = await readCompose()
  const configuration = await readFile(join(root, 'deploy', 'nginx.conf'), 'utf8')

  for (const name of ['command-api', 'command-api-work'])
    expect(serviceOf(name)).toMatchObject({ deploy: { replicas: 2 } })
  expect(halvesOf(serviceOf('command-api').command?.split(' ').slice(2) ?? [])).toEqual(['serve'])
  expect(configuration).toMatch(/^ {2}default +command-api;$/m)
  expect(configuration).not.toContain('command-api-work')
})

test('EventStoreDB runs no projections of its own', async () => {
  const { serviceOf } = await readCompose()

  const { environment = {} } = serviceOf('eventstoredb')

  expect(environment['EVENTSTORE_RUN_PROJECTIONS']).toBe('None')
  expect(environment).not.toHaveProperty('EVENTSTORE_START_STANDARD_PROJECTIONS')
})

test('the stores keep their data in volumes, where their images write it', async () => {
  const { serviceOf } = await readCompose()

  // Since version 18 the image of PostgreSQL keeps its data in a folder of its version below this one.
  expect(serviceOf('postgres').image).toMatch(/^postgres:18@/)
  expect(serviceOf('postgres').volumes).toContain('postgres:/var/lib/postgresql')
  expect(serviceOf('eventstoredb').volumes).toContain('eventstoredb:/var/lib/eventstore')
})

test('the reverse proxy reads the configuration that the repository has', async () => {
  const { serviceOf } = await readCompose()
  const configuration = await readFile(join(root, 'deploy', 'nginx.conf'), 'utf8')

  expect(serviceOf('proxy').volumes).toEqual(['./deploy/nginx.conf:/etc/nginx/conf.d/default.conf:ro'])
  // A name in a variable is looked up at each request, so the proxy starts before the APIs and follows their addresses.
  expect(configuration).toMatch(/resolver 127\.0\.0\.11 /)
  expect(configuration).toContain('proxy_pass http://$api:4000;')
  // Its files are in memory, of which it has little; and its port is not the one that callers know.
  for (const setting of ['proxy_request_buffering off', 'proxy_max_temp_file_size 0', 'absolute_redirect off'])
    expect(configuration).toContain(`  ${setting};\n`)
})
