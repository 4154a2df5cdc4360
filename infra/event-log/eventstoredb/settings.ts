import { readFileSync } from 'node:fs'
import { tlsFilesFault, type TlsFiles } from '../../certificates.ts'
import { LogMisconfigured } from '../event-log.ts'

export type Endpoint = { readonly address: string; readonly port: number }

type User = { readonly username: string; readonly password: string }

export type Settings = {
  readonly hosts: readonly Endpoint[]
  /** With `+discover` the single host is a name of all nodes. */
  readonly isDnsName: boolean
  /** Undefined for an insecure connection, which never sends the user. Without `ca` the authorities that Node.js brings are trusted. */
  readonly tls: TlsFiles | undefined
  readonly user: User | undefined
  readonly connectionName: string | undefined
  readonly keepAlive: { readonly intervalMs: number; readonly timeoutMs: number }
}

const shape =
  /^(?:esdb|kurrentdb)(?<discover>\+discover)?:\/\/(?:(?<user>[^:@/?]+):(?<password>[^@]*)@)?(?<hosts>[^@/?]+)\/?(?:\?(?<options>.*))?$/

/** Options that other clients know and that mean nothing here: deadlines are ours, and only the leader is used. */
const ignored = [
  'defaultdeadline',
  'discoveryinterval',
  'gossiptimeout',
  'maxdiscoverattempts',
  'nodepreference',
  'throwonappendfailure',
  'tlsverifycert',
]

const known = [
  'connectionname',
  'keepaliveinterval',
  'keepalivetimeout',
  'tls',
  'tlscafile',
  'usercertfile',
  'userkeyfile',
]

/** Throws `LogMisconfigured`, whose message never holds the password. */
export const readConnectionString = (connectionString: string): Settings => {
  const parts = shape.exec(connectionString.trim())?.groups
  if (!parts) throw misconfigured('must be of the form esdb://user:password@host:2113,host:2113?tls=true')
  const hosts = (parts['hosts'] ?? '').split(',').map(hostOf)
  if (parts['discover'] && hosts.length > 1) throw misconfigured('+discover takes a single host, which names all nodes')
  const options = optionsOf(parts['options'] ?? '')

  return {
    hosts,
    isDnsName: parts['discover'] !== undefined,
    tls: isTls(options) ? tlsOf(options) : undefined,
    user: userOf(parts['user'], parts['password']),
    connectionName: options.get('connectionname'),
    keepAlive: {
      intervalMs: milliseconds(options, 'keepaliveinterval'),
      timeoutMs: milliseconds(options, 'keepalivetimeout'),
    },
  }
}

const misconfigured = (what: string) => new LogMisconfigured(`EVENTSTOREDB_URL: ${what}`)

const hostOf = (text: string): Endpoint => {
  const { address, port = '2113' } =
    /^(?<address>\[[\da-f:]+\]|[^:[\]\s]+)(?::(?<port>\d{1,5}))?$/i.exec(text)?.groups ?? {}
  if (address === undefined || Number(port) > 65_535)
    throw misconfigured(`${JSON.stringify(text)} is no host or host:port`)
  return { address, port: Number(port) }
}

const userOf = (username: string | undefined, password = ''): User | undefined =>
  username === undefined ? undefined : { username: decoded(username), password: decoded(password) }

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw misconfigured('a % in the user, the password or an option must be written as %25')
  }
}

const optionsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('&')
      .filter((option) => option !== '')
      .map((option) => {
        const [name = '', ...value] = option.split('=')
        const key = name.trim().toLowerCase().replaceAll(/[_-]/g, '')
        if (![...known, ...ignored].includes(key)) throw misconfigured(`there is no option ${JSON.stringify(name)}`)
        return [key, decoded(value.join('=')).trim()] as const
      }),
  )

const isTls = (options: ReadonlyMap<string, string>) => {
  const value = options.get('tls') ?? 'true'
  if (value !== 'true' && value !== 'false') throw misconfigured('tls must be true or false')
  return value === 'true'
}

const tlsOf = (options: ReadonlyMap<string, string>): TlsFiles => {
  const [ca, cert, key] = [options.get('tlscafile'), options.get('usercertfile'), options.get('userkeyfile')]
  if ((cert === undefined) !== (key === undefined))
    throw misconfigured('userCertFile and userKeyFile must be given together')
  const files = {
    ...(ca !== undefined && { ca: fileOf('tlsCAFile', ca) }),
    ...(cert !== undefined && { cert: fileOf('userCertFile', cert) }),
    ...(key !== undefined && { key: fileOf('userKeyFile', key) }),
  }
  const unusable = tlsFilesFault(files)
  if (unusable) throw misconfigured(`${optionOf[unusable.file]} ${unusable.fault}`)
  return files
}

const optionOf = { ca: 'tlsCAFile', cert: 'userCertFile', key: 'userKeyFile' } as const

const fileOf = (option: string, path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw misconfigured(`${option} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const milliseconds = (options: ReadonlyMap<string, string>, name: string) => {
  const value = Number(options.get(name) ?? 10_000)
  if (!Number.isInteger(value) || value < -1)
    throw misconfigured(`${name} must be a number of milliseconds, or -1 for never`)
  return value < 0 ? 2 ** 31 - 1 : value
}
