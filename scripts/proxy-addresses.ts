import { readFile, writeFile } from 'node:fs/promises'
import { readAddressesOf } from '#infra/http/reads.ts'
import { routesByApi } from './openapi.ts'

const file = new URL('../deploy/nginx.conf', import.meta.url)

/** The configuration of the reverse proxy, with the addresses that the routes of query-api have now. */
export const withReadAddresses = (configuration: string): string =>
  configuration.replace(
    /(~\^\(GET\|HEAD\)).*( {2}query-api;)/,
    (_line, method: string, target: string) => `${method}${readAddressesOf(routesByApi().query)}${target}`,
  )

if (import.meta.main) await writeFile(file, withReadAddresses(await readFile(file, 'utf8')))
