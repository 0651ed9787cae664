# Installs what a formula of Homebrew installs, without Homebrew, from archives that are
# here:
#
#     ruby formula.rb FORMULA SYSTEM PROCESSOR ARCHIVES PREFIX
#
# SYSTEM is macos or linux, PROCESSOR intel or arm. It knows of Homebrew what the formula
# of gctrail needs, and fails at anything else.

require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

FORMULA, SYSTEM, PROCESSOR, ARCHIVES, PREFIX = ARGV

module Hardware
  module CPU
    def self.intel? = PROCESSOR == "intel"
    def self.arm? = PROCESSOR == "arm"
    def self.is_64_bit? = true
  end
end

# As in Homebrew, files are installed into a folder, under another name if one is given.
class Pathname
  def install(*what)
    mkpath
    what.flatten.each do |item|
      pairs = item.is_a?(Hash) ? item.to_a : [[item, File.basename(item)]]
      pairs.each { |from, to| FileUtils.cp(from, self / to, preserve: true) }
    end
    raise "nothing to install in #{self}" if what.flatten.empty?
  end
end

class Formula
  class << self
    attr_reader :archive, :digest

    def on_macos = (yield if SYSTEM == "macos")
    def on_linux = (yield if SYSTEM == "linux")
    def url(address) = @archive = File.join(ARCHIVES, File.basename(address))
    def sha256(digest) = @digest = digest
    %i[desc homepage version license].each { |name| define_method(name) { |_| } }
    def test = nil
  end

  def share = Pathname.new(File.join(PREFIX, "share"))
  def bin = Pathname.new(File.join(PREFIX, "bin"))
  def man1 = share / "man/man1"
  def bash_completion = Pathname.new(File.join(PREFIX, "etc/bash_completion.d"))
  def zsh_completion = share / "zsh/site-functions"
  def fish_completion = share / "fish/vendor_completions.d"
end

load FORMULA
raise "the checksum is that of another file" unless Digest::SHA256.file(Gctrail.archive).hexdigest == Gctrail.digest

Dir.mktmpdir do |folder|
  system("tar", "-xzf", Gctrail.archive, "-C", folder, exception: true)
  Dir.chdir(folder) { Gctrail.new.install }
end
