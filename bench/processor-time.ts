import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import type { Environment } from './environment.ts'
import { median } from './figure.ts'

/** Milliseconds of processor time for one request. Throughput depends on what else the machine does; this hardly does. */
type Cost = { readonly server: number; readonly postgresql: number; readonly client: number }

type Load = () => Promise<number>

// The unit in which Linux counts, 1/100 s on all machines.
const tickMs = 10

/** The name, in brackets, may hold any character: fields are counted from behind it. A process that is gone has used nothing. */
const statOf = async (
  pid: number,
): Promise<{ readonly parent: number; readonly own: number; readonly ended: number }> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const sum = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * tickMs
  return { parent: fields[1] ?? 0, own: sum(11), ended: sum(13) }
}

/** What all processes of a PostgreSQL have used, those included that have ended. */
const postgresql = async (parent: number): Promise<number> => {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const { own, ended } = await statOf(parent)
  const children = (await Promise.all(pids.map(statOf))).filter((stat) => stat.parent === parent)
  return children.reduce((total, child) => total + child.own, own + ended)
}

const parentOfConnections = async (environment: Environment): Promise<number> => {
  const client = new Client({ connectionString: await environment.database('processes') })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const { parent } = await statOf(rows[0]?.pid ?? 0)
  await client.end()
  return parent
}

const partNames: Readonly<Record<keyof Cost, string>> = { server: 'server', postgresql: 'PostgreSQL', client: 'client' }

/** Notes what requests to a server cost there, in PostgreSQL, and in this process, which sends them. */
const costMeter = (parent: number | undefined, serverPid: number) => {
  const costs: Cost[] = []

  const used = async (parent: number): Promise<Cost> => {
    const { user, system } = process.cpuUsage()
    const { own } = await statOf(serverPid)
    return { server: own, postgresql: await postgresql(parent), client: (user + system) / 1_000 }
  }

  return {
    /** The same load, whose cost is noted. */
    noting:
      (seconds: number, load: Load): Load =>
      async () => {
        if (parent === undefined) return load()
        const before = await used(parent)
        const rate = await load()
        const after = await used(parent)
        const each = (part: keyof Cost) => (after[part] - before[part]) / (rate * seconds)
        costs.push({ server: each('server'), postgresql: each('postgresql'), client: each('client') })
        return rate
      },
    /** The medians of the last rounds, by `<whose>, <where>`. */
    details: (whose: string, rounds: number): Readonly<Record<string, number>> => {
      const last = costs.slice(-rounds)
      const parts = Object.entries(partNames) as [keyof Cost, string][] // its own keys
      if (last.length === 0) return {}
      return Object.fromEntries(
        parts.map(([part, name]) => [`${whose}, ${name}`, median(last.map((cost) => cost[part]))]),
      )
    },
  }
}

/** Notes what the floor and the service cost, for the details of a figure; elsewhere than on Linux, nothing. */
export const costMeters = async (environment: Environment, pids: { readonly floor: number; readonly ours: number }) => {
  const parent = process.platform === 'linux' ? await parentOfConnections(environment) : undefined
  const [floor, ours] = [costMeter(parent, pids.floor), costMeter(parent, pids.ours)]
  return {
    floor: floor.noting,
    ours: ours.noting,
    details: (rounds: number) => ({
      ...ours.details('ms of CPU a request', rounds),
      ...floor.details('of the floor', rounds),
    }),
  }
}
