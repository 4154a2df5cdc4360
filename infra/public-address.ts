import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>

/** One entry of the allow-list: a host by name, or a block of addresses; with a port, that port alone. */
type Allowed = {
  readonly entry: string
  readonly name?: string
  readonly block?: readonly [Address, number]
  readonly port?: number
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True for an address of the public internet. Those of this machine and its networks are not, nor are forms that carry another
 * address within (6to4, Teredo, NAT64). An IPv4 address written as IPv6 counts as what it is.
 */
export const isPublicAddress = (address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(...globalUnicast)
}

const bare = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()

const allowed = (entry: string): Allowed => {
  if (ipaddr.isValidCIDR(entry)) return { entry, block: ipaddr.parseCIDR(entry) }
  if (ipaddr.isValid(bare(entry))) return { entry, block: oneAddress(bare(entry)) }

  const [, host, port] = /^(\[[^\]]+\]|[^:/\s]+)(?::(\d{1,5}))?$/.exec(entry) ?? []
  if (host === undefined || Number(port ?? 0) > 65_535)
    throw new Error(`${entry} is neither a host, nor host:port, nor a CIDR block.`)
  return {
    entry,
    ...(ipaddr.isValid(bare(host)) ? { block: oneAddress(bare(host)) } : { name: bare(host) }),
    ...(port !== undefined && { port: Number(port) }),
  }
}

const oneAddress = (address: string): [Address, number] => {
  const parsed = ipaddr.process(address)
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128]
}

const holds = ([network, bits]: readonly [Address, number], address: string): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return parsed.kind() === network.kind() && parsed.match(network, bits)
}

export type AllowList = {
  /** True where the list names a host as written in an address, regardless of what it resolves to. */
  readonly names: (host: string, port: number) => boolean
  /** True where an address that a host resolved to may be reached on a port. */
  readonly reaches: (host: string, port: number, address: string) => boolean
}

/** The operator's list of destinations that may be reached although not public. An entry that cannot be understood throws. */
export const makeAllowList = (entries: readonly string[]): AllowList => {
  const list = entries.map(allowed)
  const onPort = (port: number) => list.filter((each) => each.port === undefined || each.port === port)

  return {
    names: (host, port) =>
      onPort(port).some(({ name, block }) => name === bare(host) || (block && holds(block, bare(host)))),
    reaches: (host, port, address) =>
      onPort(port).some(({ name, block }) => name === bare(host) || (block && holds(block, address))),
  }
}
