import { readFile } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { notEncrypted } from '#domain/web-address.ts'
import { parse } from 'yaml'
import { withSetupFile } from '../../command-api/setup-file/read-setup-file.ts'
import { declaredOf } from '../../command-api/setup-file/declared.ts'
import { sections } from '../../command-api/setup-file/thread.ts'
import { wordsOfZod, wrongValues } from '../wrong-values.ts'
import { setupApi } from './setup-api.ts'
import { file, lineOf, withLine } from './builders.ts'

/** Nothing is ever written here, so one does for all. */
const api = await setupApi()
afterAll(() => api[Symbol.asyncDispose]())

/** Says what is wrong by input; each reason begins with the line and contains the given text. */
const refused = (title: string, text: string, expected: Record<string, readonly [line: number, reason: string]>) =>
  test(`422: ${title}`, async () => {
    const { status, body } = await api.apply(text)

    const reasons = Object.entries(expected).map(([path, [line, reason]]) => [
      path,
      expect.stringMatching(new RegExp(`^line ${line}: .*${RegExp.escape(reason)}`, 's')) as unknown,
    ])
    expect(body).toMatchObject({ error: { code: 'validation_failed' } })
    expect((body as { error: { fields: unknown } }).error.fields).toEqual(Object.fromEntries(reasons))
    expect(status).toBe(422)
    expect(await api.written()).toEqual([])
  })

refused('what is no YAML, with its line', 'organisations:\n  - slug: [acme\n', { file: [3, 'Flow sequence'] })
refused(
  'a tab, with its line alone and not what follows from it',
  withLine('    name: Acme Life', '\tname: Acme Life'),
  {
    file: [4, 'Tabs are not allowed as indentation'],
  },
)
refused('every key that stands twice', 'a: 1\na: 2\na: 3\n', { file: [2, 'line 3: Map keys must be unique'] })
refused('an empty file', '', { file: [1, 'empty'] })
refused('a file of several documents', 'a: 1\n---\nb: 2\n', { file: [1, 'one YAML document'] })
refused('an alias of an anchor that there is not', 'organisations: *nowhere\n', { file: [1, 'nowhere'] })
refused('an alias further down', withLine('    name: Acme Life', '    name: *nobody'), { file: [4, 'nobody'] })
refused(
  'aliases that would make it grow without end',
  Array.from({ length: 8 }, (_, level) => {
    const items = level === 0 ? ['x'] : Array.from({ length: 9 }, () => `*k${level - 1}`)
    return `k${level}: &k${level} [${items.join(', ')}]\n`
  }).join(''),
  { file: [1, 'alias'] },
)
refused('an alias of what it stands in', withLine('    name: Acme Life', '    name: &name [*name]'), {
  file: [4, 'is an alias of what it stands in'],
})
refused('what is nested without end', withLine('    name: Acme Life', `    name: ${'['.repeat(70)}${']'.repeat(70)}`), {
  file: [4, 'nested deeper than 64 levels'],
})
test('422: a file that takes seconds to read holds nobody up meanwhile', async () => {
  const delays = monitorEventLoopDelay()
  delays.enable()

  const { status } = await api.apply(`a: &a 1\nb: [${'*a, '.repeat(4_000)}1]\n`)

  delays.disable()
  expect(status).toBe(422)
  expect(delays.max / 1e6).toBeLessThan(1_000)
})
/** How often others have had their turn while something went on. */
const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  await work
  clearInterval(counting)
  return turns
}
test.each([
  ['lists in lists', `organisations: ${'['.repeat(90_000)}`],
  [
    'many keys',
    `organisations:\n  - slug: acme\n${Array.from({ length: 8_000 }, (_, n) => `    k${n}: 1\n`).join('')}`,
  ],
  ['many wrong items', `organisations:\n  - slug: acme\n    products:\n${'      - a: 1\n'.repeat(60_000)}`],
])(
  '422: a file of %s lets the requests of others have their turns, and its errors are as long as can be read',
  async (_what, text) => {
    const sent = api.apply(text)

    expect(await turnsDuring(sent)).toBeGreaterThan(100)
    const { status, body } = await sent
    expect(status).toBe(422)
    expect(JSON.stringify(body).length).toBeLessThan(300_000)
  },
)
test('422: of more than a hundred things that are wrong the first are named, and all are counted', async () => {
  const { body } = await api.apply(`organisations:\n${'  - { name: 1 }\n'.repeat(150)}`)

  const { message, fields } = (body as { error: { message: string; fields: object } }).error
  expect(message).toMatch(/^\d+ things are wrong in the set-up file, the first of which are named\. /)
  expect(Number.parseInt(message)).toBeGreaterThan(150)
  expect(Object.keys(fields)).toHaveLength(100)
})
test('of files that are parsed beside the requests of others, one is read after the other', async () => {
  const underWay: number[] = []
  let readers = 0
  const long = `${file}# ${'x'.repeat(110_000)}\n`

  const reading = Array.from({ length: 3 }, () =>
    withSetupFile(long, [], async () => {
      underWay.push(++readers)
      await pause(500)
      readers--
    }),
  )
  await Promise.all(reading)

  expect(underWay).toEqual([1, 1, 1])
})
const integration = `    custom_integrations:
      - name: Mailing list
        outbound:
          base_url: http://lists.example/api
          credential: null
          endpoints: [{ key: add, method: POST, path: /contacts }]
`
refused('an address of an integration that may not be called, at its own line', `${file.trimEnd()}\n${integration}`, {
  'organisations[0].custom_integrations[0].outbound.base_url': [
    lineOf(`${file.trimEnd()}\n${integration}`, 'base_url: http://lists'),
    notEncrypted,
  ],
})
const inbound = `    custom_integrations:
      - name: Policy system
        inbound: { event_type_path: type, signing_secret: webhook_secret }
        connections:
          - name: main
            secrets:
              webhook_secret: fifteen-letters
              other: short
`
refused('a signing secret that can be guessed, at its own line', `${file.trimEnd()}\n${inbound}`, {
  'organisations[0].custom_integrations[0].connections[0].secrets.webhook_secret': [
    lineOf(`${file.trimEnd()}\n${inbound}`, 'webhook_secret: fifteen'),
    'needs at least 16 characters',
  ],
})
refused('a key that is given twice', withLine('    name: Acme Life', '    name: Acme Life\n    name: Acme'), {
  file: [5, 'unique'],
})
refused('a key that is not known', withLine('    name: Acme Life', '    name: Acme Life\n    nmae: x'), {
  'organisations[0].nmae': [5, 'is not known'],
})
refused('an organisation that is declared twice', file + file.replace('organisations:', ''), {
  'organisations[1].slug': [file.split('\n').length + 2, 'is that of organisations[0]'],
})
refused(
  'a rate table and a product at once, each at its line',
  withLine('          30,10,s,56052', '          30,10,s,none').replace(
    '        name: Term\n',
    '        name: Term\n        color: blue\n',
  ),
  {
    'organisations[0].rate_tables[0].csv': [lineOf(file, 'csv: |'), 'csv:3: rate_e4: must be a whole number'],
    'organisations[0].products[0].color': [lineOf(file, 'name: Term\n') + 1, 'is not known'],
  },
)
refused(
  'all that is wrong with a product',
  file
    .replace('rate_table: life.level', 'rate_table: life.wol')
    .replace('key: smoker, values: [true]', 'key: smokes, values: [true]')
    .replace('term_years_min: 5', 'term_years_min: 50'),
  {
    'organisations[0].products[0].covers[0].rate_table': [
      lineOf(file, 'rate_table: life.level'),
      'names no version of life.wol',
    ],
    'organisations[0].products[0].smoker.key': [lineOf(file, 'smoker: { key'), 'no question with the key smokes'],
    'organisations[0].products[0].covers[0].term_years_max': [lineOf(file, 'term_years_max'), 'must not be below'],
  },
)
refused(
  'what is wrong with an organisation and with its products, at once',
  file.replace('    name: Acme Life\n', '    name: ""\n').replace('product_type: term', 'product_type: car'),
  {
    'organisations[0].name': [lineOf(file, 'name: Acme'), 'must not be empty'],
    'organisations[0].products[0].product_type': [lineOf(file, 'product_type'), 'must be one of term, '],
  },
)
test('422: of 1,118 faulty rates of a table the first are named, and all are counted', async () => {
  const rates = Array.from({ length: 1_118 }, (_, index) => `          ${18 + (index % 80)},10,n,none\n`)
  const { body } = await api.apply(
    file.replace(/csv: \|\n(.*\n){3}/, `csv: |\n          age,term,smoker,rate_e4\n${rates.join('')}`),
  )

  expect(body).toMatchObject({ error: { message: '1,118 things are wrong in the set-up file. Nothing was changed.' } })
  expect(JSON.stringify(body)).toContain('and 1,098 more faults in csv')
})

refused('a file that was not sent along', file.replace(/csv: \|\n(.*\n){3}/, 'file: rates/life.csv\n'), {
  'organisations[0].rate_tables[0].file': [
    lineOf(file, 'csv: |'),
    'rates/life.csv was not sent along: it must lie beside the set-up file',
  ],
})
refused(
  'a product that is put on sale without being published',
  withLine('        lifecycle_state: production', '        lifecycle_state: production\n        publish: false'),
  {
    'organisations[0].products[0]': [lineOf(file, '- slug: term'), 'Publish a release first'],
  },
)
refused(
  'a stage with a config that its type does not have',
  withLine(
    '            name: Standard',
    `            name: Standard
            presentations:
              - slug: web
                name: Web
                stages: [{ stage_type: quote, title: Price, config: { lable: x } }]`,
  ),
  {
    'organisations[0].products[0].journeys[0].presentations[0].stages[0].config.lable': [
      lineOf(file, 'name: Standard') + 4,
      'is not known here',
    ],
    'organisations[0].products[0].journeys[0].presentations[0].stages[0].config.label': [
      lineOf(file, 'name: Standard') + 4,
      'is missing',
    ],
  },
)

refused('the character U+0000, at its line', withLine('    name: Acme Life', '    name: "Acme\\0Life"'), {
  'organisations[0].name': [4, 'must not hold the character U+0000'],
})
refused(
  'half of a surrogate pair, in a list',
  withLine('        scopes: [read, write]', '        scopes: [read, write]\n        allowed_origins: ["\\ud83d"]'),
  {
    'organisations[0].api_applications[0].allowed_origins[0]': [8, 'must be valid Unicode'],
  },
)
refused('a key that holds U+0000', withLine('    name: Acme Life', '    name: Acme Life\n    "na\\0me": x'), {
  'organisations[0]': [3, 'has a key that must not hold the character U+0000'],
  'organisations[0].na\0me': [5, 'is not known'],
})
refused(
  'a misspelt key of an API application',
  withLine('        scopes: [read, write]', '        scopes: [read, write]\n        allowed_origin: []'),
  {
    'organisations[0].api_applications[0].allowed_origin': [8, 'is not known here; there are '],
  },
)
refused('a million characters and more', `${file}# ${'x'.repeat(1_000_000)}\n`, {
  file: [1, 'and at most 1,000,000 are read: put rates into CSV files beside it'],
})
refused(
  'a rate table of very many rates',
  withLine('          30,10,n,23360', `          30,10,n,23360\n${'          4,1,n,1\n'.repeat(50_000).trimEnd()}`),
  {
    'organisations[0].rate_tables[0].csv': [
      lineOf(file, 'csv: |'),
      'csv:50002: age: a table has at most 50000 rates, and this one 50002',
    ],
  },
)
refused(
  'a fault in a file that is parsed beside the requests of others, at its line',
  `# ${'x'.repeat(110_000)}\n${withLine('    name: Acme Life', '    name: Acme Life\n    nmae: x')}`,
  { 'organisations[0].nmae': [6, 'is not known'] },
)
refused('what is no YAML in such a file', `# ${'x'.repeat(110_000)}\norganisations: [\n`, {
  file: [3, 'Flow sequence'],
})

/** A value with all that lies at a depth, and all above that holds nothing more, replaced. */
const replacedAt = (depth: number, within: unknown, value: unknown): unknown => {
  if (depth === 0 || typeof within !== 'object' || within === null) return value
  if (Array.isArray(within)) return within.map((each) => replacedAt(depth - 1, each, value))
  return Object.fromEntries(Object.entries(within).map(([key, each]) => [key, replacedAt(depth - 1, each, value)]))
}

test('values of other types, at any depth, are refused in words of ours', async () => {
  const demo: unknown = parse(await readFile('demo/organisation.yaml', 'utf8'))
  const depths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  const contents = depths.flatMap((depth) => wrongValues.map((value) => replacedAt(depth, demo, value)))

  const found = contents.map((content) => declaredOf(content, sections).faults)

  expect(found.filter((faults) => faults.length === 0)).toEqual([])
  expect(found.flatMap((faults) => JSON.stringify(faults).match(wordsOfZod) ?? [])).toEqual([])
})

test('422: values of another type at each depth', async () => {
  const demo: unknown = parse(await readFile('demo/organisation.yaml', 'utf8'))

  // JSON is YAML, and is written in no time.
  const answers = []
  for (const depth of [1, 2, 3, 4, 5]) answers.push(await api.plan(JSON.stringify(replacedAt(depth, demo, 12.5))))

  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422])
}, 60_000)
