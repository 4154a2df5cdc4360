import { lookup, Resolver } from 'node:dns/promises'

export type Resolved = { readonly address: string; readonly family: number }

type Asking = {
  /** Others than those of this machine. */
  readonly servers?: readonly string[]
  /** The time that a server has for its first answer; twice as long for its second. */
  readonly askingMs?: number
}

const askedTimes = 2
const mostAddresses = 32

/**
 * The addresses of a name that anyone may have chosen, from the DNS servers of this machine. What the system offers for it
 * (`getaddrinfo`) blocks one of a few threads of the process until it knows: a few names whose servers never answer would
 * keep all others waiting. Here each question waits for itself.
 */
export const lookUpName = async (
  host: string,
  { servers, askingMs = 2_000 }: Asking = {},
): Promise<readonly Resolved[]> => {
  // A new one each time, so that another set of servers is used as soon as the machine has it.
  const resolver = new Resolver({ timeout: askingMs, tries: askedTimes })
  if (servers) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const [four = [], six = []] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const found = [...four.map((address) => ({ address, family: 4 })), ...six.map((address) => ({ address, family: 6 }))]
  const failure = answers.find((answer) => answer.status === 'rejected')
  if (found.length === 0 && failure) throw failure.reason
  return found.slice(0, mostAddresses)
}

/** The addresses of a name of the operator's own network: the hosts file and search domains of this machine count, too. */
export const lookUpOwnName = (host: string): Promise<readonly Resolved[]> => lookup(host, { all: true })

/** True for a name of the own network only: no name of the internet is without a dot. */
export const isLocalName = (host: string): boolean => !host.includes('.') || /(^|\.)localhost\.?$/i.test(host)
