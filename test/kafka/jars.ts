import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const version = '4.1.0'
const remembered = new URL(`../../node_modules/.cache/kafka-${version}-classpath.txt`, import.meta.url)
const resolver = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath'

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>coverstream.test</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`

/**
 * The class path of Apache Kafka, whose jars Maven fetches into its own repository. Throws, and says why, where there is
 * no Java 17 or no Maven, or Maven cannot fetch them.
 */
export const kafkaClasspath = async (): Promise<string> => {
  await checkJava()
  const known = await readFile(remembered, 'utf8').catch(() => '')
  if (known !== '' && known.split(':').every((jar) => existsSync(jar))) return known

  const directory = await mkdtemp(join(tmpdir(), 'coverstream-maven-'))
  try {
    await writeFile(join(directory, 'pom.xml'), pom)
    const file = join(directory, 'classpath.txt')
    await run('mvn', ['-q', '-B', resolver, `-Dmdep.outputFile=${file}`], { cwd: directory, timeout: 120_000 }).catch(
      () => {
        throw new Error('Maven is not here, or cannot fetch the jars of Apache Kafka')
      },
    )
    const classpath = await readFile(file, 'utf8')
    await mkdir(new URL('.', remembered), { recursive: true })
    await writeFile(remembered, classpath)
    return classpath
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const checkJava = async (): Promise<void> => {
  const { stderr } = await run('java', ['-version']).catch(() => ({ stderr: '' }))
  const major = Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0)
  if (major < 17) throw new Error('Java 17 is not here')
}
