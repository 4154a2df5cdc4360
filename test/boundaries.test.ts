import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser'
import { expect, test } from 'vitest'

const processes = 'command-api|delivery-worker|projections|query-api'
/** What every capability of the command side is written with. It knows none of them. */
const tools = 'inbound-webhooks|reactions|setup-file|writing'
/** How deliveries are planned, sent and recovered, whatever they are about. */
const deliveryRooms = 'endpoints|kafka|planning|recovery|sending'
const published = [
  '^domain/[^/]+/(events|record)\\.ts$',
  '^domain/rating/',
  // A quote as it comes to be when it is priced again, by the arithmetic of rating.
  '^domain/applications/price-again\\.ts$',
  // The ids that a capability makes from names and slugs, by which others find its streams, and what is set up in it.
  '^command-api/[^/]+/(ids|live-[^/]+)\\.ts$',
  `^command-api/(${tools})/`,
  `^delivery-worker/((${deliveryRooms})/|custom-integrations/filling\\.ts$)`,
  '^node_modules/',
]

/**
 * Which capability calls the rules of which, beside what is published. What is sold is decided in five capabilities: an application
 * and a policy are paid for, and a policy has premiums and claims, each decided by the state of the whole. What was approved is done as
 * its own capability does it.
 */
const callsRulesOf: Readonly<Record<string, readonly string[]>> = {
  applications: ['customers', 'payments'],
  approvals: ['catalogue', 'erasures', 'payment-accounts', 'policies', 'premiums', 'sign-in'],
  claims: ['policies', 'premiums'],
  erasures: ['legal-holds', 'retention'],
  ingests: ['campaigns'],
  'message-news': ['customers', 'outreach'],
  outreach: ['applications', 'complaints', 'customers', 'policies'],
  'payment-news': ['applications', 'payments', 'policies', 'premiums'],
  payments: ['applications', 'policies', 'premiums'],
  policies: ['applications', 'claims', 'payments', 'premiums'],
  premiums: ['payments', 'policies'],
  retention: ['erasures'],
  'setup-file': ['access', 'workflows'],
  'sign-in': ['users'],
}

const callsOfRules: readonly IForbiddenRuleType[] = Object.entries(callsRulesOf).map(([capability, others]) => ({
  name: `${capability} call the rules of ${others.join(' and ')}, and meet all else through events and records`,
  from: { path: `^(command-api|domain)/${capability}/` },
  to: {
    path: '^(?!infra/)[^/]+/[^/]+/',
    pathNot: [`^[^/]+/(${[capability, ...others].join('|')})/`, ...published],
  },
}))

const forbidden: IForbiddenRuleType[] = [
  ...callsOfRules,
  {
    // re2js is pure too: whether an answer fits the pattern of its question is a rule, and must not take exponential time.
    name: 'the domain is pure: it knows itself, zod and re2js, no IO and no built-in of Node',
    from: { path: '^domain/' },
    to: { pathNot: '^(domain/|node_modules/(zod|re2js)/)' },
  },
  {
    // As of a moment, a record is shown by the folds that make the tables which are read now.
    name: 'processes are strangers: they meet through events and tables',
    from: { path: `^(${processes})/`, pathNot: '^query-api/audit/as-of/seat\\.ts$' },
    to: { path: `^(${processes})/`, pathNot: '^$1/' },
  },
  {
    name: 'only the command side decides: the others know what happened and how it is shown, not why',
    from: { path: '^(projections|query-api|delivery-worker)/', pathNot: '^query-api/audit/(on-sale|price)/' },
    to: { path: '^domain/[^/]+/', pathNot: '^domain/[^/]+/(events|record)\\.ts$' },
  },
  {
    name: 'auditors are shown why a quote has its price: by the arithmetic that made it, and by no rule of its application',
    from: { path: '^query-api/audit/(on-sale|price)/' },
    to: {
      path: '^domain/[^/]+/',
      pathNot: '^domain/([^/]+/(events|record)|rating/[^/]+|applications/price-again)\\.ts$',
    },
  },
  {
    name: 'stored events own their shapes: what is stored is for ever, what is shown may change with every release',
    from: { path: '^domain/[^/]+/events\\.ts$' },
    to: { pathNot: '^(domain/(event|values)\\.ts$|domain/[^/]+/events\\.ts$|node_modules/zod/)' },
  },
  {
    name: 'capabilities meet through events, records and the ids of what has a name; rating is arithmetic that anyone may call',
    from: {
      path: '^(?!infra/)[^/]+/([^/]+)/',
      pathNot: `^(command-api|domain)/(${Object.keys(callsRulesOf).join('|')})/`,
    },
    to: { path: '^(?!infra/)[^/]+/[^/]+/', pathNot: ['^[^/]+/$1/', ...published] },
  },
  {
    // Whether an organisation is active and what became of deliveries is its own business; templates are filled for any kind.
    name: 'the delivery core knows no capability: what is sent is described in their folders, and listed in one file',
    from: {
      path: `^delivery-worker/((${deliveryRooms})/)?[^/]+$`,
      pathNot: '/(capabilities|delivery-worker|lifecycle-body|main)\\.ts$',
    },
    to: {
      path: '^(delivery-worker|domain)/[^/]+/',
      pathNot: [
        '^domain/(access|deliveries)/events\\.ts$',
        `^delivery-worker/((${deliveryRooms})/|custom-integrations/filling\\.ts$)`,
      ],
    },
  },
  {
    name: 'adapters serve every capability and know none',
    from: { path: '^infra/' },
    to: { path: `^(${processes}|domain/[^/]+)/` },
  },
  {
    name: 'what sets up, shows, tests or measures the service is no part of it',
    from: { path: `^(${processes}|domain|infra)/` },
    to: { path: '^(bench|cli|demo|scripts|stand-ins|test)/' },
  },
  { name: 'nothing imports a program', from: {}, to: { path: '(/main|^cli/[^/]+)\\.ts$' } },
  { name: 'nothing goes in circles', from: {}, to: { circular: true } },
]

test('folders import only what they may', async () => {
  const { output } = await cruise(
    ['cli', 'command-api', 'delivery-worker', 'domain', 'infra', 'projections', 'query-api'],
    {
      validate: true,
      ruleSet: { forbidden },
      parser: 'swc',
      doNotFollow: { path: 'node_modules' },
      enhancedResolveOptions: {
        extensions: ['.ts', '.js'],
        exportsFields: ['exports'],
        conditionNames: ['import', 'node'],
      },
    },
  )
  const { violations, totalCruised } = (output as ICruiseResult).summary

  expect(violations.map(({ rule, from, to }) => `${from} → ${to}: ${rule.name}`)).toEqual([])
  // Without a parser for TypeScript the tool sees no module at all, and finds nothing wrong with that.
  expect(totalCruised).toBeGreaterThan(20)
})
