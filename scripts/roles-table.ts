import { readFile, writeFile } from 'node:fs/promises'
import { InstallationRole, OrganisationRole } from '#domain/values.ts'
import { isRecorded } from '#infra/access-records/access.ts'
import type { Route } from '#infra/http/route.ts'
import { rolesFor, type TeamAccess } from '#infra/http/team.ts'
import { allRoutes } from './openapi.ts'

const file = new URL('../docs/roles.md', import.meta.url)
const [begin, end] = ['<!-- roles: npm run roles -->', '<!-- /roles -->']

export type TeamRoute = { readonly spec: Route['spec'] & { readonly access: TeamAccess } }

/** Every route of the team, in the order of addresses. */
export const teamRoutesOf = (routes: readonly Route[]): readonly TeamRoute[] =>
  routes
    .flatMap(({ spec }) => (spec.access.kind === 'team' ? [{ spec: { ...spec, access: spec.access } }] : []))
    .toSorted((one, other) => {
      const [first, second] = [one, other].map(({ spec }) => `${spec.address} ${spec.method}`)
      return (first ?? '') < (second ?? '') ? -1 : 1
    })

const roleColumns = [
  ...OrganisationRole.options.map((role) => ({ of: 'organisation', role, title: role }) as const),
  ...InstallationRole.options.map((role) => ({ of: 'installation', role, title: `installation: ${role}` }) as const),
]

const rowOf = ({ spec }: TeamRoute): readonly string[] => {
  const allowed = rolesFor(spec)
  const cells = roleColumns.map(({ of, role }) => ((allowed[of] as readonly string[]).includes(role) ? 'yes' : ''))
  return [
    `\`${spec.method.toUpperCase()} ${spec.address}\``,
    ...cells,
    spec.access.showsPersonalData ? 'yes' : '',
    isRecorded(spec) ? 'yes' : '',
  ]
}

/** A table as the formatter writes it. */
const tableOf = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(3, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

const matrix = (): string =>
  tableOf([
    ['Route', ...roleColumns.map(({ title }) => title), 'shows personal values', 'recorded'],
    ...teamRoutesOf(allRoutes()).map(rowOf),
  ])

/** The guide with its table of roles as the routes declare them. */
export const guideWithRoles = (guide: string): string => {
  const [before, rest] = guide.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined)
    throw new Error(`docs/roles.md has no lines “${begin}” and “${end}”.`)
  return `${before}${begin}\n\n${matrix()}\n\n${end}${after}`
}

if (import.meta.main) await writeFile(file, guideWithRoles(await readFile(file, 'utf8')))
