import { OrganisationId } from '#domain/values.ts'
import { endMisunderstood, readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { askForOperatorKey, readOwnSecrets } from '#infra/local-installation.ts'
import { exportAll, isExportable } from './lead-files/export.ts'
import { importFile, isImportable } from './lead-files/import.ts'
import { Failed, type Service } from './lead-files/service.ts'

const usage = `Usage: npm run leads -- import FILE.csv --organisation ID [--what leads|outcomes] [--campaign KEY] [--dry-run]
       npm run leads -- export --organisation ID [--what leads|outcomes|events] [--format csv|jsonl] [--bom]

Imports leads or outcomes from a CSV file whose first line names the fields, or writes all leads (with the details of the
person), outcomes or events of leads to standard output. An import that was interrupted can be run again: what was taken in is
not taken in twice. A file that was changed is another one: correct rows that were refused in a file of their own.

Leads have the columns email, phone, name or first_name and last_name, external_id, and as you like dob, postal_code, those
of custom fields by their keys and any others; a campaign's field_names hold for them. Consent cannot be imported: where a
campaign demands it, all leads of a file are held until the team accepts them.

Outcomes have the columns type and occurred_at; contact_id, id, external_id, email or phone to find the lead; and where they
apply event_id, deal_ref, product, reason, note, currency, and a column for each measure. Money is in pounds: 12.50.

  --organisation ID   its id, as GET /admin/v1/organisations shows it
  --dry-run           only says which rows could not be taken in, would be held, or hold what cannot be read
  --bom               begins a CSV file with the mark by which spreadsheets know that it is UTF-8
  --base-url URL      where the service is (BASE_URL)
  --operator-key KEY  the key of the operator (OPERATOR_KEY, or the one that npm start made)
`

const chosen = () =>
  readOptions(usage, {
    allowPositionals: true,
    options: {
      organisation: { type: 'string' },
      what: { type: 'string', default: 'leads' },
      campaign: { type: 'string' },
      format: { type: 'string', default: 'csv' },
      bom: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      'base-url': { type: 'string' },
      'operator-key': { type: 'string' },
    },
  })

/** The task that is asked for; undefined where that is not understood. */
const taskOf = ({ values, positionals }: ReturnType<typeof chosen>) => {
  const [act, file, ...others] = positionals
  const { what, campaign, format, bom, 'dry-run': dry_run } = values
  if (act === 'export' && file === undefined && isExportable(what))
    return (service: Service) => exportAll(service, what, { format, bom })
  if (act === 'import' && file !== undefined && others.length === 0 && isImportable(what))
    return (service: Service) => importFile(service, file, what, { campaign, dry_run })
  return undefined
}

const main = async (): Promise<void> => {
  const options = chosen()
  const { values, positionals } = options
  const task =
    taskOf(options) ??
    endMisunderstood([...positionals, ...(values.what === 'leads' ? [] : ['--what', values.what])], usage)
  const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig({
    ...process.env,
    BASE_URL: values['base-url'] ?? process.env['BASE_URL'],
  })
  const operatorKey = values['operator-key'] ?? OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
  if (operatorKey === undefined) throw new Failed(askForOperatorKey(DATA_DIR))
  if (values.organisation === undefined) throw new Failed(`Name the organisation.\n\n${usage}`)
  if (!OrganisationId.safeParse(values.organisation).success)
    throw new Failed(
      `--organisation must be the id of the organisation, as GET /admin/v1/organisations shows it; "${values.organisation}" is none.`,
    )
  await task({ address: `${BASE_URL}/admin/v1/organisations/${values.organisation}`, operatorKey })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
