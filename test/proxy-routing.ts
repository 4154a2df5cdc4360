import { readFile } from 'node:fs/promises'
import { isReadOf } from '#infra/http/reads.ts'

const configuration = await readFile(new URL('../deploy/nginx.conf', import.meta.url), 'utf8')
const [, readAddresses = ''] = /~\^\(GET\|HEAD\)(.*) {2}query-api;/.exec(configuration) ?? []

/** Whether the reverse proxy sends a request to query-api. */
export const isRead = isReadOf(readAddresses)
