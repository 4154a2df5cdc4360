import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { Config, readConfig } from '#infra/config.ts'

const root = join(import.meta.dirname, '..')

const Service = z.object({
  image: z.string(),
  command: z.string().optional(),
  env_file: z.array(z.object({ path: z.string(), required: z.boolean() })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  volumes: z.array(z.string()).optional(),
})
const Compose = z.object({ services: z.record(z.string(), Service) })

const readCompose = async () => {
  const text = await readFile(join(root, 'docker-compose.yml'), 'utf8')
  const { services } = Compose.parse(parse(text, { merge: true }))
  const serviceOf = (name: string) => {
    const service = services[name]
    if (!service) throw new Error(`There is no service ${name}.`)
    return service
  }
  return { services, serviceOf, roles: Object.values(services).filter(({ image }) => image === 'coverstream') }
}

test('every role has settings that it can read, and a health check that asks its health port', async () => {
  const { roles } = await readCompose()

  expect(roles.map(({ command }) => command)).toEqual(
    ['command-api', 'query-api', 'projections', 'delivery-worker'].map((role) => `node ${role}/main.ts`),
  )
  for (const { environment = {}, healthcheck } of roles) {
    expect(Object.keys(environment).filter((name) => !Object.hasOwn(Config.shape, name))).toEqual([])
    const secrets = { MASTER_KEY: 'm'.repeat(44), OPERATOR_KEY: 'k'.repeat(24) }
    const withDefaults = Object.entries({ ...environment, ...secrets }).map(
      ([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')] as const,
    )
    const { HEALTH_PORT } = readConfig(Object.fromEntries(withDefaults))
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

test('PostgreSQL takes the connections of two processes of every role, and some more', async () => {
  const { serviceOf } = await readCompose()
  const guide = await readFile(join(root, 'docs', 'operate.md'), 'utf8')
  const [, each = ''] = /^\| together(.*)\|$/m.exec(guide) ?? []
  const documented = each.split('|').slice(1).map(Number)

  const [, maximum] = /max_connections=(\d+)/.exec(serviceOf('postgres').command ?? '') ?? []

  expect(documented).toHaveLength(4)
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

test('EventStoreDB runs no projections of its own', async () => {
  const { serviceOf } = await readCompose()

  const { environment = {} } = serviceOf('eventstoredb')

  expect(environment['EVENTSTORE_RUN_PROJECTIONS']).toBe('None')
  expect(environment).not.toHaveProperty('EVENTSTORE_START_STANDARD_PROJECTIONS')
})

test('the stores keep their data in volumes, where their images write it', async () => {
  const { serviceOf } = await readCompose()

  // Since version 18 the image of PostgreSQL keeps its data in a folder of its version below this one.
  expect(serviceOf('postgres')).toMatchObject({ image: 'postgres:18', volumes: ['postgres:/var/lib/postgresql'] })
  expect(serviceOf('eventstoredb').volumes).toEqual(['eventstoredb:/var/lib/eventstore'])
})

test('the reverse proxy reads the configuration that the repository has', async () => {
  const { serviceOf } = await readCompose()
  const configuration = await readFile(join(root, 'deploy', 'nginx.conf'), 'utf8')

  expect(serviceOf('proxy').volumes).toEqual(['./deploy/nginx.conf:/etc/nginx/conf.d/default.conf:ro'])
  // A name in a variable is looked up at each request, so the proxy starts before the APIs and follows their addresses.
  expect(configuration).toMatch(/resolver 127\.0\.0\.11 /)
  expect(configuration).toContain('proxy_pass http://$api:4000;')
})
